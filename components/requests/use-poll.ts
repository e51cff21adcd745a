"use client";

import { useCallback, useEffect, useEffectEvent, useState } from "react";

const fastPollMs = 2_000;
const slowPollMs = 10_000;
/** After so many attempts, about five minutes, polling slows down. */
const fastPolls = 150;

/**
 * Calls `read` while the page is visible: every `intervalMs`, by default every 2 seconds and later every 10. A failed call is
 * repeated at the next interval.
 * @param read receives a signal that aborts when its result is no longer needed
 * @param isDone stops polling
 * @returns a function that calls `read` at once
 */
export function usePoll(
  read: (signal: AbortSignal) => Promise<void>,
  isDone: boolean,
  intervalMs?: number,
): () => void {
  const [polls, setPolls] = useState(0);
  const poll = useCallback(() => setPolls((count) => count + 1), []);
  const readNow = useEffectEvent(read);

  useEffect(() => {
    if (isDone) return;
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = async () => {
      try {
        await readNow(abort.signal);
      } catch {
        // The service may be reachable again at the next attempt.
      }
      const pauseMs = intervalMs ?? (polls < fastPolls ? fastPollMs : slowPollMs);
      if (!abort.signal.aborted) timer = setTimeout(poll, pauseMs);
    };
    const onVisible = () => document.visibilityState === "visible" && poll();
    if (document.visibilityState === "visible") look();
    document.addEventListener("visibilitychange", onVisible);
    return () => {
      abort.abort();
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", onVisible);
    };
  }, [isDone, polls, poll, intervalMs]);

  return poll;
}
