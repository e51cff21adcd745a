"use client";

import { useEffect, useRef, useState } from "react";
import { ApiError, callApi } from "@/components/api";
import type { activityList } from "@/lib/contract/activity";
import { type ActivityItem, rowKey } from "./row";

const liveMs = 2_000;
const gentleMs = 15_000;
/** How many of the latest rows are looked at; more than that at once is "a lot" to anybody. */
const lookedAt = 50;

/**
 * Looks for rows that were recorded since: often while live, else now and then, never while the page is hidden.
 * While live and with the top of the list in sight it calls `onNew` by itself; else it only counts what waits, so that
 * nothing moves under the eyes of whoever is reading further down.
 * @returns `waiting` rows, what keeps it from looking, and what to say to screen readers
 */
export function useNewRows({
  source,
  shown,
  isLive,
  isTopInSight,
  onNew,
}: {
  source: string;
  shown: ActivityItem[];
  isLive: boolean;
  isTopInSight: () => boolean;
  onNew: () => void;
}): { waiting: number; problem: string | undefined; said: string } {
  const [latest, setLatest] = useState<string[]>([]);
  const [problem, setProblem] = useState<string>();
  const [said, setSaid] = useState("");
  const shownKeys = new Set(shown.map(rowKey));
  const waiting = latest.filter((key) => !shownKeys.has(key)).length;

  const current = useRef({ shownKeys, isTopInSight, onNew });
  useEffect(() => {
    current.current = { shownKeys, isTopInSight, onNew };
  });

  useEffect(() => {
    const stopped = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = async () => {
      clearTimeout(timer);
      if (document.hidden) return;
      const answer = await readLatest(source, stopped.signal);
      if (stopped.signal.aborted) return;
      if (answer instanceof ApiError) {
        setProblem(answer.message);
        // Somebody who is signed out stays so until the page is opened anew.
        if (answer.status === 401) return;
      } else {
        setProblem(undefined);
        setLatest(answer.map(rowKey));
        const fresh = answer.filter((row) => !current.current.shownKeys.has(rowKey(row)));
        if (fresh.length > 0) setSaid(announce(fresh));
        if (fresh.length > 0 && isLive && current.current.isTopInSight()) current.current.onNew();
      }
      schedule();
    };
    const schedule = () => {
      timer = setTimeout(look, isLive ? liveMs : gentleMs);
    };
    const onVisibility = () => (document.hidden ? clearTimeout(timer) : void look());
    document.addEventListener("visibilitychange", onVisibility);
    if (isLive) void look();
    else schedule();
    return () => {
      stopped.abort();
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", onVisibility);
    };
  }, [source, isLive]);

  return { waiting, problem, said };
}

type LatestRow = Pick<ActivityItem, "id" | "part" | "label">;

/** The latest row is named: the same words twice would be read out once. */
function announce([latest, ...others]: LatestRow[]): string {
  if (others.length === 0) return `1 new row: ${latest?.label}`;
  return `${others.length + 1} new rows, the latest: ${latest?.label}`;
}

async function readLatest(source: string, signal: AbortSignal): Promise<LatestRow[] | ApiError> {
  const path = `${source}&limit=${lookedAt}`;
  try {
    return (await callApi<typeof activityList>("GET", path, undefined, signal)).activity;
  } catch (error) {
    if (error instanceof ApiError || signal.aborted) return error as ApiError;
    throw error;
  }
}
