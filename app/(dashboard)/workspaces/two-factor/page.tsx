import type { Metadata } from "next";
import { notFound, redirect } from "next/navigation";
import { beginAuthenticator, confirmAuthenticator } from "@/app/(auth)/second-factor-actions";
import { readKeptUser } from "@/app/(dashboard)/kept-user";
import { AuthCard, TextLink } from "@/components/auth/auth-card";
import { RequiredSetup } from "@/components/second-factor/required-setup";
import { currentUser } from "@/lib/access/sign-in/page-session";
import { withNext } from "@/lib/access/sign-in/safe-path";

export const metadata: Metadata = { title: "Two-factor authentication", robots: { index: false } };

type Props = { searchParams: Promise<{ workspace?: string }> };

/** Sets up two-factor authentication for a member whose workspace requires it. */
export default async function TwoFactorPage({ searchParams }: Props) {
  const { workspace: slug = "" } = await searchParams;
  const claims = await currentUser();
  if (!claims) redirect(withNext("/sign-in", `/${slug}`));
  const { workspaces, locked_workspaces: locked } = await readKeptUser(claims);
  const isThis = (candidate: { slug: string }) => candidate.slug === slug;
  const open = workspaces.find((candidate) => isThis(candidate) && candidate.require_mfa);
  const workspace = open ?? locked.find(isThis);
  if (!workspace) notFound();
  const other = workspaces.find((candidate) => !isThis(candidate));
  return (
    <AuthCard
      title={`${workspace.name} requires two-factor authentication`}
      about="Set up an authenticator app. Signing in will then ask for its code after your password or link. The workspace opens when you are done."
      footer={
        other ? (
          <p>
            Not now? <TextLink href={`/${other.slug}`}>Open {other.name}</TextLink>
          </p>
        ) : null
      }
    >
      <RequiredSetup
        actions={{ begin: beginAuthenticator, confirm: confirmAuthenticator }}
        workspace={{ slug, name: workspace.name }}
        isOpen={open !== undefined}
      />
    </AuthCard>
  );
}
