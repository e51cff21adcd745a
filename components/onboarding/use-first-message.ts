"use client";

import { useCallback, useEffect, useState } from "react";
import { callApi } from "@/components/api";
import type { ActivityRow, activityList } from "@/lib/contract/activity";

const eagerMs = 2_000;
const patientMs = 10_000;
/** After so many looks whoever waits has gone to do something else. */
const eagerLooks = 150;

/**
 * Waits for the first message of a workspace: looks every two seconds, later every ten, while the page is in sight, and
 * stops once there is one.
 * @returns the message, and how to look at once
 */
export function useFirstMessage(workspace: string): { message: ActivityRow | undefined; look: () => void } {
  const [message, setMessage] = useState<ActivityRow>();
  const [looks, setLooks] = useState(0);
  const look = useCallback(() => setLooks((count) => count + 1), []);
  const hasArrived = message !== undefined;

  useEffect(() => {
    if (hasArrived) return;
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const waitMs = looks < eagerLooks ? eagerMs : patientMs;
    const read = async () => {
      try {
        const path = `/api/v1/workspaces/${workspace}/activity?period=all&limit=1`;
        const { activity } = await callApi<typeof activityList>("GET", path, undefined, abort.signal);
        if (activity[0]) return setMessage(activity[0]);
      } catch {
        // Out of reach for a moment: the next look may succeed.
      }
      if (!abort.signal.aborted) timer = setTimeout(look, waitMs);
    };
    const onVisible = () => document.visibilityState === "visible" && look();
    if (document.visibilityState === "visible") read();
    document.addEventListener("visibilitychange", onVisible);
    return () => {
      abort.abort();
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", onVisible);
    };
  }, [workspace, hasArrived, looks, look]);

  return { message, look };
}
