"use client";

import { Search } from "lucide-react";
import { Button } from "@/components/ui/button";
import { setPalette } from "./palette-state";

/** The button that opens the command palette. With `compact`, it is only an icon. */
export function PaletteButton({ compact = false }: { compact?: boolean }) {
  if (compact) {
    return (
      <Button variant="ghost" size="icon" aria-label="Search" onClick={() => setPalette(true)}>
        <Search aria-hidden="true" />
      </Button>
    );
  }
  return (
    <Button
      variant="outline"
      onClick={() => setPalette(true)}
      aria-keyshortcuts="Meta+K Control+K"
      className="h-10 w-full justify-start border-sidebar-border bg-transparent px-2.5 font-normal text-muted-foreground hover:bg-sidebar-accent lg:h-8"
    >
      <Search aria-hidden="true" />
      <span className="flex-1 text-left">Search</span>
      <span aria-hidden="true" className="hidden text-xs lg:block">
        ⌘K
      </span>
    </Button>
  );
}
