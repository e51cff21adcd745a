"use client";

import { useEffect, useRef, useState } from "react";
import { ApiError, callApi } from "@/components/requests/api";
import type { activityList } from "@/lib/contract/spend/activity";
import { type ActivityItem, rowKey } from "./row";

/** How often new rows are read, with and without live updates. */
const livePollMs = 2_000;
const idlePollMs = 15_000;
/** The number of latest rows that are read, which is the highest number of new rows shown. */
const polledRows = 50;

/**
 * Looks for rows that were recorded after those shown: every 2 seconds with live updates, otherwise every 15 seconds, and
 * never while the page is hidden. With live updates, and while the top of the list is visible, it calls `onNew`; otherwise
 * it only counts the new rows, so that the list does not move while somebody reads it.
 * @returns the number of `waiting` rows, the `problem` of the last attempt, and an `announcement` for screen readers
 */
export function useNewRows({
  source,
  shown,
  isLive,
  isWatched,
  isTopVisible,
  onNew,
}: {
  source: string;
  shown: ActivityItem[];
  isLive: boolean;
  /** False for a list whose new rows do not appear at the top. */
  isWatched: boolean;
  isTopVisible: () => boolean;
  onNew: () => void;
}): { waiting: number; problem: string | undefined; announcement: string } {
  const [latest, setLatest] = useState<string[]>([]);
  const [problem, setProblem] = useState<string>();
  const [announcement, setAnnouncement] = useState("");
  const shownKeys = new Set(shown.map(rowKey));
  const waiting = latest.filter((key) => !shownKeys.has(key)).length;

  const current = useRef({ shownKeys, isTopVisible, onNew });
  useEffect(() => {
    current.current = { shownKeys, isTopVisible, onNew };
  });

  useEffect(() => {
    if (!isWatched) return;
    const stopped = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const poll = async () => {
      clearTimeout(timer);
      if (document.hidden) return;
      const answer = await readLatest(source, stopped.signal);
      if (stopped.signal.aborted) return;
      if (answer instanceof ApiError) {
        setProblem(answer.message);
        // The session is over, so further attempts would fail too.
        if (answer.status === 401) return;
      } else {
        setProblem(undefined);
        setLatest(answer.map(rowKey));
        const fresh = answer.filter((row) => !current.current.shownKeys.has(rowKey(row)));
        if (fresh.length > 0) setAnnouncement(announce(fresh));
        if (fresh.length > 0 && isLive && current.current.isTopVisible()) current.current.onNew();
      }
      schedule();
    };
    const schedule = () => {
      timer = setTimeout(poll, isLive ? livePollMs : idlePollMs);
    };
    const onVisibility = () => (document.hidden ? clearTimeout(timer) : void poll());
    document.addEventListener("visibilitychange", onVisibility);
    if (isLive) void poll();
    else schedule();
    return () => {
      stopped.abort();
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", onVisibility);
    };
  }, [source, isLive, isWatched]);

  return { waiting, problem, announcement };
}

type LatestRow = Pick<ActivityItem, "id" | "part" | "label">;

/** The announcement of new rows. It names the latest row, because screen readers do not repeat an unchanged text. */
function announce([latest, ...others]: LatestRow[]): string {
  if (others.length === 0) return `1 new row: ${latest?.label}`;
  return `${others.length + 1} new rows, the latest: ${latest?.label}`;
}

async function readLatest(source: string, signal: AbortSignal): Promise<LatestRow[] | ApiError> {
  const path = `${source}&limit=${polledRows}`;
  try {
    return (await callApi<typeof activityList>("GET", path, undefined, signal)).activity;
  } catch (error) {
    if (error instanceof ApiError || signal.aborted) return error as ApiError;
    throw error;
  }
}
