import type { Metadata } from "next";
import type { ReactNode } from "react";
import { signOut } from "@/app/(auth)/actions";
import { WorkspaceHeader } from "@/components/shell/workspace-header";
import { requireWorkspace } from "./membership";

type Props = { params: Promise<{ workspace: string }>; children: ReactNode };

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  const { workspace } = await requireWorkspace((await params).workspace);
  return { title: workspace.name, robots: { index: false } };
}

/** What every page of a workspace stands in. Who may not see the workspace is turned away here, before anything is sent. */
export default async function WorkspaceLayout({ params, children }: Props) {
  const { user, workspace, workspaces } = await requireWorkspace((await params).workspace);
  return (
    <>
      <WorkspaceHeader current={workspace} workspaces={workspaces} email={user.email} signOut={signOut} />
      {children}
    </>
  );
}
