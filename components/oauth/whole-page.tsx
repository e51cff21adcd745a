"use client";

import { usePathname } from "next/navigation";
import { type ReactNode, useEffect, useState } from "react";

/**
 * Shows its children only if the browser loaded this page itself. After a navigation within the app, the document still has the
 * Content-Security-Policy of the previous page, which blocks forms whose answer redirects to another program. The page is then
 * reloaded.
 */
export function WholePage({ children }: { children: ReactNode }) {
  // Uses the router's path, which is already this page's in the first rendering. `window.location` changes later.
  const path = usePathname();
  const [isWhole] = useState(() => isDocumentOf(path));
  useEffect(() => {
    if (!isWhole) window.location.reload();
  }, [isWhole]);
  return isWhole ? children : null;
}

/** Whether the document was loaded from this path; also while the page is rendered on the server. */
function isDocumentOf(path: string): boolean {
  if (typeof window === "undefined") return true;
  const [loaded] = performance.getEntriesByType("navigation");
  return loaded === undefined || new URL(loaded.name).pathname === path;
}
