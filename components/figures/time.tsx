"use client";

import { useSyncExternalStore } from "react";
import { byEnglish } from "@/components/reader/by-reader";
import { formatInZone } from "./format-date";
import { dayMs } from "./utc-day";

const minuteMs = 60_000;
const relativeLimitMs = 7 * dayMs;

const relative = byEnglish((tag) => new Intl.RelativeTimeFormat(tag, { numeric: "auto", style: "narrow" }));
const isThisYear = (at: Date, now: number) => at.getUTCFullYear() === new Date(now).getUTCFullYear();

/** How long ago an instant was, or in what time it will be; its day if that is more than a week. */
function formatInstant(at: Date, now: number): string {
  const aheadMs = at.getTime() - now;
  const sizeMs = Math.abs(aheadMs);
  if (sizeMs < minuteMs) return "just now";
  if (sizeMs < 60 * minuteMs) return relative().format(Math.trunc(aheadMs / minuteMs), "minute");
  if (sizeMs < dayMs) return relative().format(Math.trunc(aheadMs / (60 * minuteMs)), "hour");
  if (sizeMs < relativeLimitMs) return relative().format(Math.trunc(aheadMs / dayMs), "day");
  return formatInZone(at, isThisYear(at, now) ? "day" : "date");
}

/** One clock for all times of a page. It stops when no time is shown. */
let clock = 0;
const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;
function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    clock = Date.now();
    for (const each of listeners) each();
  }, minuteMs / 2);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}
const readClock = () => {
  clock ||= Date.now();
  return clock;
};
const onServer = () => 0;

/**
 * An instant: how long ago it was, or the day in the time zone of the workspace when it was more than a week ago. The exact time
 * in that zone is shown on hover.
 * @param props.at ISO 8601
 */
export function Time({ at, className }: { at: string; className?: string }) {
  const now = useSyncExternalStore(subscribe, readClock, onServer);
  const date = new Date(at);
  const text = formatInstant(date, now || Date.now());
  return (
    <time
      dateTime={at}
      title={formatInZone(date, "instant")}
      className={className}
      // The text of the server and of the browser may differ.
      suppressHydrationWarning
    >
      {text}
    </time>
  );
}
