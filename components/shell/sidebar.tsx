import { AccountMenu } from "./account-menu";
import { AlertBell } from "./alert-bell";
import { NavLinks } from "./nav-links";
import { PaletteButton } from "./palette-button";
import { type ShellWorkspace, WorkspaceSwitcher } from "./workspace-switcher";

/** Id of the sidebar, which the button of the top bar opens. */
export const sidebarId = "sidebar";

/**
 * The sidebar of a workspace. On a phone it is a drawer: a native popover, which opens without a script and closes with
 * Escape or a click outside.
 */
export function Sidebar({
  current,
  workspaces,
  account,
  signOut,
  hasDeleted,
}: {
  current: ShellWorkspace;
  workspaces: ShellWorkspace[];
  account: { name: string; email: string };
  signOut: () => Promise<void>;
  /** Whether the user has deleted workspaces, which have a page of their own. */
  hasDeleted: boolean;
}) {
  return (
    <aside
      id={sidebarId}
      popover="auto"
      aria-label="Workspace"
      className="fixed inset-y-0 right-auto left-0 m-0 h-dvh max-h-none w-72 max-w-[85vw] flex-col gap-3 overflow-y-auto border-r bg-sidebar p-3 text-sidebar-foreground backdrop:bg-black/45 open:flex lg:sticky lg:top-0 lg:flex lg:w-auto"
    >
      {/* A column of its own keeps the bell's place before its HTML has arrived. On a phone, the bell is in the top bar. */}
      <div className="grid items-center gap-1 lg:grid-cols-[minmax(0,1fr)_--spacing(9)]">
        <WorkspaceSwitcher current={current} workspaces={workspaces} hasDeleted={hasDeleted} />
        <AlertBell
          workspace={current.slug}
          place="bottom-start"
          className="max-lg:hidden hover:bg-sidebar-accent"
        />
      </div>
      <PaletteButton />
      <NavLinks workspace={current.slug} drawerId={sidebarId} />
      {/* A flex container: in a block, the line around the button is taller until the button's text has arrived. */}
      <div className="mt-auto flex pt-4">
        <AccountMenu workspace={current.slug} {...account} signOut={signOut} />
      </div>
    </aside>
  );
}
