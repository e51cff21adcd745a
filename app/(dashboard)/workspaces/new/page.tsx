import type { Metadata } from "next";
import { redirect } from "next/navigation";
import { AuthCard, TextLink } from "@/components/auth/auth-card";
import { NewWorkspaceForm } from "@/components/workspaces/new-workspace-form";
import { currentUser } from "@/lib/access/sign-in/page-session";

export const metadata: Metadata = { title: "New workspace", robots: { index: false } };

/** The page that creates a workspace. */
export default async function NewWorkspacePage() {
  if (!(await currentUser())) redirect(`/sign-in?next=${encodeURIComponent("/workspaces/new")}`);
  return (
    <AuthCard
      title="New workspace"
      about="A workspace has its own projects, keys, budgets and members."
      footer={
        <p>
          <TextLink href="/workspaces">Back to your workspaces</TextLink>
        </p>
      }
    >
      <NewWorkspaceForm />
    </AuthCard>
  );
}
