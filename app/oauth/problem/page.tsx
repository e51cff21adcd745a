import type { Metadata } from "next";
import Link from "next/link";
import { Notice } from "@/components/shell/notice";
import { buttonVariants } from "@/components/ui/button";
import type { ConsentProblem } from "@/lib/access/oauth/consent";

export const metadata: Metadata = { title: "Not connected", robots: "noindex" };

const sentences: Record<ConsentProblem, string> = {
  stale:
    "This question was answered before, is too old, or was put to somebody else. Connect the program again.",
  choice: "The workspace, project, permissions or limit cannot be had like this. Connect the program again.",
};

/** Why an answer to the consent page did not count. */
export default async function ProblemPage({ searchParams }: { searchParams: Promise<{ why?: string }> }) {
  const { why } = await searchParams;
  return (
    <Notice
      title="Nothing was connected"
      actions={
        <Link href="/workspaces" className={buttonVariants({ variant: "outline" })}>
          To my workspace
        </Link>
      }
    >
      <p>{sentences[why === "choice" ? "choice" : "stale"]}</p>
    </Notice>
  );
}
