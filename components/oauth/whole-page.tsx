"use client";

import { usePathname } from "next/navigation";
import { type ReactNode, useEffect, useState } from "react";

/**
 * Shows its children where the browser loaded this very page. After a navigation within the app the document, and with it
 * the Content-Security-Policy, is that of the page before, which blocks forms whose answer redirects to another program:
 * then the browser loads the page once more, whole.
 */
export function WholePage({ children }: { children: ReactNode }) {
  // The router's path: it is this page's from the first rendering on, and `window.location` changes only after that.
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
