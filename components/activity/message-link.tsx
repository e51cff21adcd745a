"use client";

import { usePathname, useSearchParams } from "next/navigation";
import type { ReactNode } from "react";

/** A link to another message in the sheet, which stays open. */
export function MessageLink({ id, children }: { id: string; children: ReactNode }) {
  const path = usePathname();
  const params = new URLSearchParams(useSearchParams());
  params.set("message", id);
  const href = `${path}?${params}`;
  return (
    <a
      href={href}
      onClick={(event) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
        event.preventDefault();
        showMessage(href);
      }}
      className="underline underline-offset-4"
    >
      {children}
    </a>
  );
}

/** Shows another message in the sheet, in the place of this one in the history. */
export function showMessage(href: string): void {
  window.history.replaceState(window.history.state, "", href);
}
