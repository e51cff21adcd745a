"use client";

import { useRouter } from "next/navigation";
import { useRef, useState, useTransition } from "react";
import { ApiError, readTag } from "@/components/requests/api";
import { usePoll } from "@/components/requests/use-poll";

/** The interval between requests, short enough to show a change within two seconds. */
const intervalMs = 1_500;
/** After this many consecutive changes, costs arrive continuously, and the page is read less often. */
const changesInARow = 5;
const busyPauseMs = 10_000;

/**
 * Reads the page again within two seconds after its figures have changed. A small conditional request checks for changes, and
 * stops while the page is hidden.
 * @param props.source path of the figures, with their range
 * @param props.tag the tag of the figures that are shown
 */
export function LiveOverview({ source, tag }: { source: string; tag: string }) {
  const router = useRouter();
  const [isReading, startReading] = useTransition();
  const [isOver, setOver] = useState(false);
  const pace = useRef({ changes: 0, resumeAt: 0 });
  usePoll(
    async (signal) => {
      if (isReading || performance.now() < pace.current.resumeAt) return;
      const latest = await readTag(source, tag, signal).catch((error) => {
        // Without a session or a membership, further attempts fail too.
        if (error instanceof ApiError && (error.status === 401 || error.status === 404)) setOver(true);
        throw error;
      });
      if (latest === tag) {
        pace.current.changes = 0;
        return;
      }
      pace.current.changes += 1;
      if (pace.current.changes >= changesInARow) pace.current.resumeAt = performance.now() + busyPauseMs;
      startReading(() => router.refresh());
    },
    isOver,
    intervalMs,
  );
  return null;
}
