import { Menu } from "lucide-react";
import { Button } from "@/components/ui/button";
import { AlertBell } from "./alert-bell";
import { PaletteButton } from "./palette-button";
import { sidebarId } from "./sidebar";
import type { ShellWorkspace } from "./workspace-switcher";

/** The bar that a phone shows instead of the sidebar: a button that opens the sidebar, the workspace, the bell and the search. */
export function TopBar({ workspace }: { workspace: ShellWorkspace }) {
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
