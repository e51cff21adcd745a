import { ChevronsUpDown, Plus, Trash2 } from "lucide-react";
import {
  DropdownMenu,
  DropdownMenuContent,
  DropdownMenuLabel,
  DropdownMenuLink,
  DropdownMenuSeparator,
  DropdownMenuTrigger,
} from "@/components/ui/dropdown-menu";
import { Mark } from "./mark";

/** The fields of a workspace that the shell needs. */
export type ShellWorkspace = { slug: string; name: string };

/** The menu that shows the current workspace and links to the others. */
export function WorkspaceSwitcher({
  current,
  workspaces,
  hasDeleted,
}: {
  current: ShellWorkspace;
  workspaces: ShellWorkspace[];
  /** Whether to link to deleted workspaces, which can still be restored. */
  hasDeleted: boolean;
}) {
  return (
    <DropdownMenu>
      <DropdownMenuTrigger
        variant="ghost"
        className="h-10 w-full justify-start gap-2.5 px-2 hover:bg-sidebar-accent"
      >
        <Mark className="size-5" />
        <span className="min-w-0 flex-1 truncate text-left">{current.name}</span>
        <span className="sr-only">, switch workspace</span>
        <ChevronsUpDown aria-hidden="true" className="size-3.5 text-muted-foreground" />
      </DropdownMenuTrigger>
      <DropdownMenuContent aria-label="Workspaces" className="w-60">
        <DropdownMenuLabel>Workspaces</DropdownMenuLabel>
        {workspaces.map(({ slug, name }) => (
          <DropdownMenuLink key={slug} href={`/${slug}`} current={slug === current.slug}>
            <span className="truncate">{name}</span>
          </DropdownMenuLink>
        ))}
        <DropdownMenuSeparator />
        <DropdownMenuLink href="/workspaces/new">
          <Plus aria-hidden="true" />
          New workspace
        </DropdownMenuLink>
        {hasDeleted ? (
          <DropdownMenuLink href="/workspaces/deleted">
            <Trash2 aria-hidden="true" />
            Deleted workspaces
          </DropdownMenuLink>
        ) : null}
      </DropdownMenuContent>
    </DropdownMenu>
  );
}
