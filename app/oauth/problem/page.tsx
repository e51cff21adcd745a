import type { Metadata } from "next";
import { Notice } from "@/components/shell/notice";
import { buttonVariants } from "@/components/ui/button";
import { Link } from "@/components/ui/link";
import type { ConsentProblem } from "@/lib/access/oauth/consent";

export const metadata: Metadata = { title: "Not connected", robots: "noindex" };

const sentences: Record<ConsentProblem, string> = {
  stale:
    "This request was answered before, has expired, or was made for another user. Connect the program again.",
  choice:
    "This choice of workspace, project, permissions and limit is not possible. Connect the program again.",
};

/** Says why an answer to the consent page was not accepted. */
export default async function ProblemPage({ searchParams }: { searchParams: Promise<{ why?: string }> }) {
  const { why } = await searchParams;
  return (
    <Notice
      title="Nothing was connected"
      actions={
        <Link href="/workspaces" className={buttonVariants({ variant: "outline" })}>
          Open my workspace
        </Link>
      }
    >
      <p>{sentences[why === "choice" ? "choice" : "stale"]}</p>
    </Notice>
  );
}
