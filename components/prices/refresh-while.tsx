"use client";

import { useRouter } from "next/navigation";
import { useEffect } from "react";

const everyMs = 2000;

/** Shows the page anew while something of it is under way and the page is in sight. */
export function RefreshWhile({ isRunning }: { isRunning: boolean }) {
  const router = useRouter();
  useEffect(() => {
    if (!isRunning) return;
    const timer = setInterval(() => {
      if (document.visibilityState === "visible") router.refresh();
    }, everyMs);
    return () => clearInterval(timer);
  }, [isRunning, router]);
  return null;
}
