"use client";

import { useSyncExternalStore } from "react";

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
const relativeForMs = 7 * dayMs;

const inWords = new Intl.RelativeTimeFormat("en-US", { numeric: "auto", style: "narrow" });
const inUtc = new Intl.DateTimeFormat("en-US", { dateStyle: "medium", timeStyle: "medium", timeZone: "UTC" });
const isThisYear = (at: Date, now: number) => at.getUTCFullYear() === new Date(now).getUTCFullYear();

/** How long ago (or until when), for a week; then the day, in a zone. */
function write(at: Date, now: number, timeZone: string | undefined): string {
  const aheadMs = at.getTime() - now;
  const sizeMs = Math.abs(aheadMs);
  if (sizeMs < minuteMs) return "just now";
  if (sizeMs < 60 * minuteMs) return inWords.format(Math.trunc(aheadMs / minuteMs), "minute");
  if (sizeMs < dayMs) return inWords.format(Math.trunc(aheadMs / (60 * minuteMs)), "hour");
  if (sizeMs < relativeForMs) return inWords.format(Math.trunc(aheadMs / dayMs), "day");
  const year = isThisYear(at, now) ? undefined : "numeric";
  return new Intl.DateTimeFormat("en-US", { day: "numeric", month: "short", year, timeZone }).format(at);
}

/** One clock for all times of a page. It stands still where nothing of it is in sight. */
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
 * An instant: how long ago, or the day in the viewer's zone; the exact time in UTC on hover. The server does not know
 * the zone and writes the day in UTC; the browser corrects it without a word.
 * @param at ISO 8601
 */
export function Time({ at, className }: { at: string; className?: string }) {
  const now = useSyncExternalStore(subscribe, readClock, onServer);
  const date = new Date(at);
  const text = now === 0 ? write(date, Date.now(), "UTC") : write(date, now, undefined);
  return (
    <time
      dateTime={at}
      title={`${inUtc.format(date)} UTC`}
      className={className}
      // The server's clock is a moment behind.
      suppressHydrationWarning
    >
      {text}
    </time>
  );
}
