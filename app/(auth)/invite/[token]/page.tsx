import type { Metadata } from "next";
import { AuthCard, TextLink } from "@/components/auth/auth-card";
import { InvitationForm } from "@/components/auth/forms";
import { buttonVariants } from "@/components/ui/button";
import { Link } from "@/components/ui/link";
import { readInvitationOffer } from "@/lib/access/invitations/service";
import { currentUser } from "@/lib/access/sign-in/page-session";
import { homePath, withNext } from "@/lib/access/sign-in/safe-path";
import type { InvitationOffer } from "@/lib/contract/access/invitations";
import { ServiceError } from "@/lib/errors";
import { changeAccount, join } from "./actions";

// Anybody with the address can join, so it is not sent as a referrer and the page is not indexed.
export const metadata: Metadata = {
  title: "Join a workspace",
  referrer: "no-referrer",
  robots: { index: false },
};

const roleDescriptions: Record<InvitationOffer["role"], string> = {
  viewer: "Viewers see the spend, and change nothing.",
  member: "Members see the spend, and create and manage their own API keys.",
  admin: "Admins manage budgets, keys, prices and members.",
};

/** The page of an invitation's link. States: signed out, already a member, for another address, invalid, and ready to join. */
export default async function InvitationPage({ params }: { params: Promise<{ token: string }> }) {
  const { token } = await params;
  const claims = await currentUser();
  if (!claims) return <SignInFirst token={token} />;
  const offer = await readInvitationOffer(claims, token).catch((error: unknown) => {
    if (error instanceof ServiceError && error.code === "not_found") return undefined;
    throw error;
  });
  if (!offer) return <InvalidInvitation />;
  const { workspace, role, invited_by: inviter, email } = offer;
  if (offer.already_member) {
    return (
      <AuthCard
        title={`You are already a member of ${workspace.name}`}
        about={`Signed in as ${claims.email}.`}
      >
        <InvitationForm action={join} token={token} submit={`Open ${workspace.name}`} />
      </AuthCard>
    );
  }
  if (!offer.is_for_you) {
    return (
      <AuthCard
        title={`Join ${workspace.name}`}
        about={`This invitation is only for ${email}, but you are signed in as ${claims.email}. Sign in with that address, or ask ${inviter} to invite yours.`}
      >
        <InvitationForm action={changeAccount} token={token} submit="Sign in with another address" />
      </AuthCard>
    );
  }
  return (
    <AuthCard
      title={`Join ${workspace.name} as ${role}`}
      about={`${inviter} invited you. ${roleDescriptions[role]}`}
      footer={<p>Signed in as {claims.email}.</p>}
    >
      <InvitationForm action={join} token={token} submit={`Join ${workspace.name}`} />
    </AuthCard>
  );
}

function SignInFirst({ token }: { token: string }) {
  const next = `/invite/${token}`;
  return (
    <AuthCard
      title="You are invited"
      about="Sign in or create an account to see who invited you, and to which workspace."
    >
      <div className="grid gap-3">
        <Link href={withNext("/sign-in", next)} className={buttonVariants({ size: "lg" })}>
          Sign in
        </Link>
        <Link
          href={withNext("/sign-up", next)}
          className={buttonVariants({ variant: "outline", size: "lg" })}
        >
          Create an account
        </Link>
      </div>
    </AuthCard>
  );
}

function InvalidInvitation() {
  return (
    <AuthCard
      title="This invitation is no longer valid"
      about="It was used, was revoked or has expired. Ask the person who sent it for a new one."
      footer={
        <p>
          Open <TextLink href={homePath}>your own workspace</TextLink>
        </p>
      }
    >
      {null}
    </AuthCard>
  );
}
