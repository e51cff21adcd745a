"use client";

import { useRouter } from "next/navigation";
import { useEffect } from "react";

const intervalMs = 2000;

/** Refreshes the page every 2 seconds while `isRunning` is true and the page is visible. */
export function RefreshWhile({ isRunning }: { isRunning: boolean }) {
  const router = useRouter();
  useEffect(() => {
    if (!isRunning) return;
    const timer = setInterval(() => {
      if (document.visibilityState === "visible") router.refresh();
    }, intervalMs);
    return () => clearInterval(timer);
  }, [isRunning, router]);
  return null;
}
