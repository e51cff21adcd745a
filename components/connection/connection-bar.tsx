"use client";

import { CloudOff } from "lucide-react";
import { useOffline } from "next/offline";
import { useEffect, useState } from "react";
import { formatLocalTime } from "@/components/figures/format-date";
import { lastAnswerAt, whenReachable } from "./service";

/**
 * Says that the service cannot be reached, since when, and that the page is waiting for it. Next's router repeats its requests
 * when the service answers again. The bar overlays the page, so that nothing moves.
 */
export function ConnectionBar() {
  const isOffline = useOffline();
  useEffect(() => {
    document.addEventListener("click", followWhenReachable);
    return () => document.removeEventListener("click", followWhenReachable);
  }, []);
  return (
    <div
      role="status"
      className="pointer-events-none fixed inset-x-0 bottom-4 z-50 flex justify-center px-4 print:hidden"
    >
      {isOffline ? <Unreachable /> : null}
    </div>
  );
}

function Unreachable() {
  const [since] = useState(lastAnswerAt);
  return (
    <p className="flex items-start gap-2.5 rounded-lg border border-warning/50 bg-popover px-3.5 py-2.5 text-popover-foreground text-sm shadow-lg">
      <CloudOff aria-hidden="true" className="mt-0.5 size-4 shrink-0 text-warning" />
      <span>
        Outlay cannot be reached. Trying again…{" "}
        <span className="text-muted-foreground">
          This page shows what was known at {formatLocalTime(since)}.
        </span>
      </span>
    </p>
  );
}

/** The latest link that waits for the service. */
let awaited: string | undefined;

/**
 * Opens a link that Next's router does not handle, such as the one to the API reference, when the service answers. Otherwise the
 * browser would replace the page with its own error page. Next's router has prevented the default of its own links before.
 */
function followWhenReachable(event: MouseEvent): void {
  if (event.defaultPrevented || event.button !== 0) return;
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const link = event.target instanceof Element ? event.target.closest("a") : null;
  if (!link || link.origin !== location.origin || link.target || link.hasAttribute("download")) return;
  const isSamePage = link.pathname === location.pathname && link.search === location.search;
  if (isSamePage && link.hash) return;
  event.preventDefault();
  const { href } = link;
  awaited = href;
  void whenReachable().then(() => {
    if (awaited === href) location.assign(href);
  });
}
