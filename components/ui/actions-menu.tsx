"use client";

import { Ellipsis } from "lucide-react";
import type { ReactNode } from "react";
import { DropdownMenu, DropdownMenuContent, DropdownMenuTrigger } from "./dropdown-menu";

/** A menu behind a button with three dots, for the actions on one thing. `children` are the menu's items. */
export function ActionsMenu({
  name,
  outlined = false,
  className = "",
  children,
}: {
  /** Name of the thing, for the accessible name of the button. */
  name: string;
  /** True for a button with a border, for use beside other buttons. */
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
        data-row-control
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
