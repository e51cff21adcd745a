import type { Metadata } from "next";
import { cookies, headers } from "next/headers";
import { redirect } from "next/navigation";
import { AuthCard } from "@/components/auth/auth-card";
import { ConsentForm } from "@/components/oauth/consent-form";
import { ProgramFacts } from "@/components/oauth/program-facts";
import { WholePage } from "@/components/oauth/whole-page";
import { lastWorkspaceCookie } from "@/components/shell/last-workspace";
import { Notice } from "@/components/shell/notice";
import { buttonVariants } from "@/components/ui/button";
import { Link } from "@/components/ui/link";
import { type PageQuery, readAuthorizationRequest } from "@/lib/access/oauth/authorize";
import { askConsent, shownRedirect } from "@/lib/access/oauth/consent";
import { OAuthError } from "@/lib/access/oauth/oauth-error";
import { currentUser } from "@/lib/access/sign-in/page-session";
import { ServiceError } from "@/lib/errors";

export const metadata: Metadata = { title: "Connect a program", robots: "noindex" };

/** The authorization endpoint: asks the signed-in user to allow a program. States: the question, and problems with the request. */
export default async function AuthorizePage({ searchParams }: { searchParams: Promise<PageQuery> }) {
  const query = await searchParams;
  const claims = await currentUser();
  if (!claims) redirect(`/sign-in?next=${encodeURIComponent(`/oauth/authorize?${toSearchParams(query)}`)}`);
  const result = await parseRequest(query, claims.sub);
  if ("problem" in result) return <Problem>{result.problem}</Problem>;
  if ("refusedTo" in result) {
    if (result.isOnThisMachine) redirect(result.refusedTo);
    return <Problem wayBack={result.refusedTo}>{result.message}</Problem>;
  }
  const { nonce, email, client, wanted, workspaces } = await askConsent(
    claims,
    result.request,
    (await cookies()).get(lastWorkspaceCookie)?.value,
  );
  if (workspaces.length === 0)
    return (
      <Problem>{`You are not a member of a workspace that ${client.name} can be connected to.`}</Problem>
    );
  return (
    <AuthCard title={`Connect “${client.name}” to Outlay?`}>
      <ProgramFacts host={client.host} redirectHost={client.redirectHost} email={email} />
      <WholePage>
        <ConsentForm nonce={nonce} wanted={wanted} workspaces={workspaces} program={client.name} />
      </WholePage>
    </AuthCard>
  );
}

/** Parses the request. An invalid client or redirect address is shown to the user and never redirected to. */
async function parseRequest(query: PageQuery, userId: string) {
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
            Open my workspace
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

function toSearchParams(query: PageQuery): URLSearchParams {
  const params = new URLSearchParams();
  for (const [name, values] of Object.entries(query)) {
    for (const value of [values ?? []].flat()) params.append(name, value);
  }
  return params;
}
