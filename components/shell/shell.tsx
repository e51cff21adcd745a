import { Menu } from "lucide-react";
import type { ReactNode } from "react";
import { Button } from "@/components/ui/button";
import { AlertBell } from "./alert-bell";
import { CommandPalette } from "./command-palette";
import { PaletteButton } from "./palette-button";
import { RememberWorkspace } from "./remember-workspace";
import { Sidebar, sidebarId } from "./sidebar";
import type { ShellWorkspace } from "./workspace-switcher";

/** The frame of every page of a workspace: sidebar, top bar on a phone, command palette and notices. */
export function Shell({
  current,
  workspaces,
  account,
  signOut,
  hasDeleted,
  children,
}: {
  current: ShellWorkspace;
  workspaces: ShellWorkspace[];
  account: { name: string; email: string };
  signOut: () => Promise<void>;
  /** Whether the user has deleted workspaces, which have a page of their own. */
  hasDeleted: boolean;
  children: ReactNode;
}) {
  return (
    <div data-shell className="lg:grid lg:grid-cols-[15rem_minmax(0,1fr)]">
      <a
        href="#content"
        className="fixed top-2 left-2 z-50 rounded-md bg-primary px-3 py-2 text-primary-foreground text-sm not-focus:sr-only"
      >
        Skip to the content
      </a>
      <Sidebar
        current={current}
        workspaces={workspaces}
        account={account}
        signOut={signOut}
        hasDeleted={hasDeleted}
      />
      <div className="min-w-0">
        <TopBar workspace={current} />
        <main
          id="content"
          tabIndex={-1}
          className="mx-auto w-full max-w-[1200px] px-4 pt-6 pb-24 outline-none sm:px-8"
        >
          {children}
        </main>
      </div>
      <CommandPalette current={current} workspaces={workspaces} />
      <RememberWorkspace slug={current.slug} />
    </div>
  );
}

/** The bar that a phone shows instead of the sidebar: a button that opens the sidebar, the workspace, the bell and the search. */
function TopBar({ workspace }: { workspace: ShellWorkspace }) {
  return (
    <header className="sticky top-0 z-30 flex h-14 items-center gap-1 border-b bg-background px-2 lg:hidden">
      <Button variant="ghost" size="icon" aria-label="Menu" popoverTarget={sidebarId}>
        <Menu aria-hidden="true" />
      </Button>
      <span className="min-w-0 flex-1 truncate font-medium text-sm">{workspace.name}</span>
      <AlertBell workspace={workspace.slug} place="bottom-end" />
      <PaletteButton compact />
    </header>
  );
}
