import type { Metadata } from "next";
import { headers } from "next/headers";
import Link from "next/link";
import { redirect } from "next/navigation";
import { AuthCard } from "@/components/auth/auth-card";
import { ConsentForm } from "@/components/oauth/consent-form";
import { ProgramFacts } from "@/components/oauth/program-facts";
import { Notice } from "@/components/shell/notice";
import { buttonVariants } from "@/components/ui/button";
import { type PageQuery, readAuthorizationRequest } from "@/lib/access/oauth/authorize";
import { askConsent, shownRedirect } from "@/lib/access/oauth/consent";
import { OAuthError } from "@/lib/access/oauth/oauth-error";
import { currentUser } from "@/lib/access/sign-in/page-session";
import { ServiceError } from "@/lib/errors";

export const metadata: Metadata = { title: "Connect a program", robots: "noindex" };

/** Where a program sends a user to be let in: asks them, once they are signed in. */
export default async function AuthorizePage({ searchParams }: { searchParams: Promise<PageQuery> }) {
  const query = await searchParams;
  const claims = await currentUser();
  if (!claims) redirect(`/sign-in?next=${encodeURIComponent(`/oauth/authorize?${writeQuery(query)}`)}`);
  const read = await readRequest(query, claims.sub);
  if ("problem" in read) return <Problem>{read.problem}</Problem>;
  if ("refusedTo" in read) {
    if (read.isOnThisMachine) redirect(read.refusedTo);
    return <Problem wayBack={read.refusedTo}>{read.message}</Problem>;
  }
  const { nonce, email, client, wanted, workspaces } = await askConsent(claims, read.request);
  if (workspaces.length === 0)
    return <Problem>{`You belong to no workspace that ${client.name} could be let into.`}</Problem>;
  return (
    <AuthCard title={`Let “${client.name}” into Outlay?`}>
      <ProgramFacts host={client.host} redirectHost={client.redirectHost} email={email} />
      <ConsentForm nonce={nonce} wanted={wanted} workspaces={workspaces} program={client.name} />
    </AuthCard>
  );
}

/** What is wrong with the program or where it wants to be called back is for the user's eyes alone. */
async function readRequest(query: PageQuery, userId: string) {
  try {
    return await readAuthorizationRequest(query, userId, (await headers()).get("host"));
  } catch (error) {
    if (error instanceof OAuthError) return { problem: error.message };
    if (error instanceof ServiceError && error.code === "rate_limited") return { problem: error.message };
    throw error;
  }
}

function Problem({ children, wayBack }: { children: string; wayBack?: string }) {
  return (
    <Notice
      title="This program cannot be connected"
      actions={
        <>
          <Link href="/workspaces" className={buttonVariants({ variant: "outline" })}>
            To my workspace
          </Link>
          {wayBack ? (
            <a href={wayBack} className={buttonVariants({ variant: "ghost" })}>
              Back to {shownRedirect(wayBack)}
            </a>
          ) : null}
        </>
      }
    >
      <p>{children}</p>
    </Notice>
  );
}

function writeQuery(query: PageQuery): URLSearchParams {
  const written = new URLSearchParams();
  for (const [name, values] of Object.entries(query)) {
    for (const value of [values ?? []].flat()) written.append(name, value);
  }
  return written;
}
