"use client";

import { Ellipsis } from "lucide-react";
import type { ReactNode } from "react";
import { DropdownMenu, DropdownMenuContent, DropdownMenuTrigger } from "./dropdown-menu";

/** What may be done with one thing of several, behind three dots. `children` are the menu's items. */
export function ActionsMenu({
  name,
  outlined = false,
  className = "",
  children,
}: {
  /** What the thing is called. */
  name: string;
  /** Whether the button has an edge: beside other buttons, not in a row. */
  outlined?: boolean;
  className?: string;
  children: ReactNode;
}) {
  const label = `Actions for ${name}`;
  return (
    <DropdownMenu>
      <DropdownMenuTrigger
        variant={outlined ? "outline" : "ghost"}
        size="icon"
        aria-label={label}
        className={`${outlined ? "" : "text-muted-foreground"} ${className}`}
      >
        <Ellipsis aria-hidden="true" />
      </DropdownMenuTrigger>
      <DropdownMenuContent aria-label={label} place="bottom-end">
        {children}
      </DropdownMenuContent>
    </DropdownMenu>
  );
}
