"use client";

import { useCallback, useEffect, useState } from "react";
import { callApi } from "@/components/api";
import type { ActivityRow, activityList } from "@/lib/contract/activity";

const fastPollMs = 2_000;
const slowPollMs = 10_000;
/** After so many attempts, about five minutes, polling slows down. */
const fastPolls = 150;

/**
 * Polls for the first message of a workspace while the page is visible: every 2 seconds, later every 10, until it is there.
 * @returns the `message`, and `poll`, which looks for it at once
 */
export function useFirstMessage(workspace: string): { message: ActivityRow | undefined; poll: () => void } {
  const [message, setMessage] = useState<ActivityRow>();
  const [polls, setPolls] = useState(0);
  const poll = useCallback(() => setPolls((count) => count + 1), []);
  const hasArrived = message !== undefined;

  useEffect(() => {
    if (hasArrived) return;
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const waitMs = polls < fastPolls ? fastPollMs : slowPollMs;
    const read = async () => {
      try {
        const path = `/api/v1/workspaces/${workspace}/activity?period=all&limit=1`;
        const { activity } = await callApi<typeof activityList>("GET", path, undefined, abort.signal);
        if (activity[0]) return setMessage(activity[0]);
      } catch {
        // The service may be reachable again at the next attempt.
      }
      if (!abort.signal.aborted) timer = setTimeout(poll, waitMs);
    };
    const onVisible = () => document.visibilityState === "visible" && poll();
    if (document.visibilityState === "visible") read();
    document.addEventListener("visibilitychange", onVisible);
    return () => {
      abort.abort();
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", onVisible);
    };
  }, [workspace, hasArrived, polls, poll]);

  return { message, poll };
}
