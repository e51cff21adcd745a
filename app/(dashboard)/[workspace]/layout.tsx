import type { Metadata } from "next";
import type { ReactNode } from "react";
import { signOut } from "@/app/(auth)/actions";
import { ReaderProvider } from "@/components/reader/reader-provider";
import { ConversionNote } from "@/components/shell/conversion-note";
import { Shell } from "@/components/shell/shell";
import { Toaster } from "@/components/ui/toaster";
import { requireWorkspace } from "./membership";

type Props = { params: Promise<{ workspace: string }>; children: ReactNode };

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  const { workspace } = await requireWorkspace((await params).workspace);
  const title = { default: `${workspace.name} · Outlay`, template: `%s · ${workspace.name} · Outlay` };
  return { title, robots: { index: false } };
}

/** The frame of every page of a workspace. Users who may not see the workspace are redirected here, before anything is sent. */
export default async function WorkspaceLayout({ params, children }: Props) {
  const { user, profile, workspace, workspaces, reader, hasDeleted } = await requireWorkspace(
    (await params).workspace,
  );
  return (
    <>
      <ReaderProvider reader={reader} key={JSON.stringify(reader)}>
        <Shell
          current={{ slug: workspace.slug, name: workspace.name }}
          workspaces={workspaces.map(({ slug, name }) => ({ slug, name }))}
          account={{ name: profile.display_name ?? user.email, email: user.email }}
          signOut={signOut}
          hasDeleted={hasDeleted}
        >
          {children}
          {reader.display ? (
            <ConversionNote display={reader.display} settings={`/${workspace.slug}/settings/account`} />
          ) : null}
        </Shell>
      </ReaderProvider>
      {/* Outside of what is made anew for another reader: the notice that says so stays. */}
      <Toaster />
    </>
  );
}
