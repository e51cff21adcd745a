import type { Metadata } from "next";
import { redirect } from "next/navigation";
import { AuthCard, TextLink } from "@/components/auth/auth-card";
import { currentUser } from "@/lib/access/sign-in/page-session";
import { withNext } from "@/lib/access/sign-in/safe-path";
import { uuid } from "@/lib/contract/values/fields";
import { findAskingPage } from "@/lib/spend/budget-requests/list";

export const metadata: Metadata = { title: "Ask for more", robots: { index: false } };

type Props = { searchParams: Promise<Record<string, string | string[] | undefined>> };

/**
 * The target of links in refusals by a budget or a key's limit, which do not contain the workspace's slug. Redirects to the form that
 * requests a raise of it.
 */
export default async function AskPage({ searchParams }: Props) {
  const { budget, key } = await searchParams;
  const kind = budget === undefined ? "key" : "budget";
  const id = uuid.safeParse(budget ?? key);
  const claims = await currentUser();
  if (!claims)
    redirect(withNext("/sign-in", id.success ? `/workspaces/ask?${kind}=${id.data}` : "/workspaces"));
  const page = id.success ? await findAskingPage(claims, kind, id.data) : null;
  if (page) redirect(page);
  return (
    <AuthCard
      title="Ask for more"
      about="This budget or key does not exist, or belongs to a workspace that you are not a member of. Ask whoever gave you the key."
    >
      <p className="text-muted-foreground text-sm">
        <TextLink href="/workspaces">Go to your workspaces</TextLink>
      </p>
    </AuthCard>
  );
}
