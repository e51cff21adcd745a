"use client";

import { ChevronDown } from "lucide-react";
import { hrefWith, type SearchParams } from "@/components/filters/href";
import { useApi } from "@/components/requests/use-api";
import {
  DropdownMenu,
  DropdownMenuContent,
  DropdownMenuLabel,
  DropdownMenuLink,
  DropdownMenuTrigger,
} from "@/components/ui/dropdown-menu";
import { useOpened } from "@/components/ui/use-opened";
import type { organization } from "@/lib/contract/access/workspaces";
import { noUser } from "./format-entry";

type Props = {
  workspace: string;
  path: string;
  params: SearchParams;
  /** The name of the member whose changes are shown; undefined for all. */
  name: string | undefined;
};

/**
 * The menu that limits the log to the changes of one member, or to those that no user made. The choice is the parameter `actor` of the
 * address. Members are loaded when it is first opened; when that fails, the menu says why.
 */
export function ActorFilter({ workspace, path, params, name }: Props) {
  const { element, wasOpened, open } = useOpened<HTMLDivElement>();
  const { answer, problem } = useApi<typeof organization>(
    wasOpened ? `/api/v1/workspaces/${workspace}/org` : undefined,
  );
  const link = (actor: string | undefined, label: string) => (
    <DropdownMenuLink
      key={actor ?? label}
      href={hrefWith(path, params, { actor })}
      current={params.actor === actor}
    >
      <span dir="auto" className="min-w-0 truncate">
        {label}
      </span>
    </DropdownMenuLink>
  );
  return (
    <DropdownMenu>
      <DropdownMenuTrigger variant="outline" size="sm" className="max-w-60">
        <span className="truncate">{name ?? "Anybody"}</span>
        <ChevronDown aria-hidden="true" className="text-muted-foreground" />
      </DropdownMenuTrigger>
      <DropdownMenuContent ref={element} onBeforeToggle={open} aria-label="Who made the change">
        {link(undefined, "Anybody")}
        {link("", noUser)}
        {answer?.members.map(({ user_id: id, display_name: shown, email }) => link(id, shown ?? email))}
        {answer ? null : <DropdownMenuLabel>{problem?.message ?? "Loading members…"}</DropdownMenuLabel>}
      </DropdownMenuContent>
    </DropdownMenu>
  );
}
