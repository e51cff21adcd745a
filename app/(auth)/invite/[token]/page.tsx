import type { Metadata } from "next";
import Link from "next/link";
import { AuthCard, TextLink } from "@/components/auth/auth-card";
import { InvitationForm } from "@/components/auth/forms";
import { buttonVariants } from "@/components/ui/button";
import { readInvitationOffer } from "@/lib/access/invitations/service";
import { currentUser } from "@/lib/access/sign-in/page-session";
import { homePath, withNext } from "@/lib/access/sign-in/safe-path";
import type { InvitationOffer } from "@/lib/contract/invitations";
import { ServiceError } from "@/lib/errors";
import { changeAccount, join } from "./actions";

// Whoever has the address can join: it goes to no other site and into no index.
export const metadata: Metadata = {
  title: "Join a workspace",
  referrer: "no-referrer",
  robots: { index: false },
};

const duties: Record<InvitationOffer["role"], string> = {
  viewer: "Viewers see what is spent, and on what.",
  member: "Members see what is spent, and make and manage their own API keys.",
  admin: "Admins manage budgets, keys, prices and who belongs to the workspace.",
};

/** Where the link of an invitation leads: signed out, by way of signing in; signed in, to joining. */
export default async function InvitationPage({ params }: { params: Promise<{ token: string }> }) {
  const { token } = await params;
  const claims = await currentUser();
  if (!claims) return <SignInFirst token={token} />;
  const offer = await readInvitationOffer(claims, token).catch((error: unknown) => {
    if (error instanceof ServiceError && error.code === "not_found") return undefined;
    throw error;
  });
  if (!offer) return <Worthless />;
  const { workspace, role, invited_by: inviter, email } = offer;
  if (offer.already_member) {
    return (
      <AuthCard title={`You are in ${workspace.name} already`} about={`Signed in as ${claims.email}.`}>
        <InvitationForm action={join} token={token} submit={`Open ${workspace.name}`} />
      </AuthCard>
    );
  }
  if (!offer.is_for_you) {
    return (
      <AuthCard
        title={`Join ${workspace.name}`}
        about={`This invitation is for ${email} alone, and you are signed in as ${claims.email}. Sign in with that address, or ask ${inviter} for an invitation to yours.`}
      >
        <InvitationForm action={changeAccount} token={token} submit="Sign in with another address" />
      </AuthCard>
    );
  }
  return (
    <AuthCard
      title={`Join ${workspace.name} as ${role}`}
      about={`${inviter} invited you. ${duties[role]}`}
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
      about="Sign in or make an account, and you will see who invited you, and to which workspace."
    >
      <div className="grid gap-3">
        <Link href={withNext("/sign-in", next)} className={buttonVariants({ size: "lg" })}>
          Sign in
        </Link>
        <Link
          href={withNext("/sign-up", next)}
          className={buttonVariants({ variant: "outline", size: "lg" })}
        >
          Make an account
        </Link>
      </div>
    </AuthCard>
  );
}

function Worthless() {
  return (
    <AuthCard
      title="This invitation is not good any more"
      about="It has been used or revoked, or is too old. Ask whoever sent it for a new one."
      footer={
        <p>
          Go on to <TextLink href={homePath}>your own workspace</TextLink>
        </p>
      }
    >
      {null}
    </AuthCard>
  );
}
