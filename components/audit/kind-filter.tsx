"use client";

import { ChevronDown } from "lucide-react";
import {
  DropdownMenu,
  DropdownMenuContent,
  DropdownMenuLink,
  DropdownMenuTrigger,
} from "@/components/ui/dropdown-menu";
import { kinds } from "./entry";

/** Whether the log shows all changes or those of one kind of thing, in the parameter `kind`. */
export function KindFilter({ path, kind }: { path: string; kind: string | undefined }) {
  return (
    <DropdownMenu>
      <DropdownMenuTrigger variant="outline" size="sm">
        {(kind && kinds[kind]) ?? "All changes"}
        <ChevronDown aria-hidden="true" className="text-muted-foreground" />
      </DropdownMenuTrigger>
      <DropdownMenuContent aria-label="Changes of" place="bottom-end">
        <DropdownMenuLink href={path} current={kind === undefined}>
          All changes
        </DropdownMenuLink>
        {Object.entries(kinds).map(([value, label]) => (
          <DropdownMenuLink key={value} href={`${path}?kind=${value}`} current={kind === value}>
            {label}
          </DropdownMenuLink>
        ))}
      </DropdownMenuContent>
    </DropdownMenu>
  );
}
