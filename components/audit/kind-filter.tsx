"use client";

import { ChevronDown } from "lucide-react";
import { hrefWith, type SearchParams } from "@/components/filters/href";
import {
  DropdownMenu,
  DropdownMenuContent,
  DropdownMenuLink,
  DropdownMenuTrigger,
} from "@/components/ui/dropdown-menu";
import { kinds } from "./entry";

/** The menu that limits the log to one kind of change. The choice is the parameter `kind` of the address. */
export function KindFilter({ path, params }: { path: string; params: SearchParams }) {
  const kind = typeof params.kind === "string" ? params.kind : undefined;
  return (
    <DropdownMenu>
      <DropdownMenuTrigger variant="outline" size="sm">
        {(kind && kinds[kind]) ?? "All changes"}
        <ChevronDown aria-hidden="true" className="text-muted-foreground" />
      </DropdownMenuTrigger>
      <DropdownMenuContent aria-label="Kind of change">
        <DropdownMenuLink href={hrefWith(path, params, { kind: undefined })} current={kind === undefined}>
          All changes
        </DropdownMenuLink>
        {Object.entries(kinds).map(([value, label]) => (
          <DropdownMenuLink
            key={value}
            href={hrefWith(path, params, { kind: value })}
            current={kind === value}
          >
            {label}
          </DropdownMenuLink>
        ))}
      </DropdownMenuContent>
    </DropdownMenu>
  );
}
