"use client";

import { useCallback, useEffect, useState } from "react";
import { callApi } from "@/components/api";
import type { source } from "@/lib/contract/sources";
import { type SourceView, toSourceView } from "./source-view";

const fastPollMs = 2_000;
const slowPollMs = 10_000;
/** After so many attempts, about five minutes, polling slows down. */
const fastPolls = 150;

/**
 * Polls a source while the page is visible, every 2 seconds, later every 10, until it recorded something.
 * @param path of the source in the API; undefined as long as there is none
 */
export function useSource(path: string | undefined): SourceView | undefined {
  const [read, setRead] = useState<SourceView>();
  const [polls, setPolls] = useState(0);
  const poll = useCallback(() => setPolls((count) => count + 1), []);
  const isDone = path === undefined || (read?.recorded ?? 0) > 0;

  useEffect(() => {
    if (isDone) return;
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = async () => {
      try {
        setRead(toSourceView(await callApi<typeof source>("GET", path, undefined, abort.signal)));
      } catch {
        // The service may be reachable again at the next attempt.
      }
      if (!abort.signal.aborted) timer = setTimeout(poll, polls < fastPolls ? fastPollMs : slowPollMs);
    };
    const onVisible = () => document.visibilityState === "visible" && poll();
    if (document.visibilityState === "visible") look();
    document.addEventListener("visibilitychange", onVisible);
    return () => {
      abort.abort();
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", onVisible);
    };
  }, [path, isDone, polls, poll]);

  return read;
}
