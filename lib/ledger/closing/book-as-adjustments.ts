import { postedOn } from "@/lib/contract/values/clock";
import { exactMs } from "@/lib/contract/values/instant";
import type { Posting } from "@/lib/ledger/ingest/ledger";

/** Which days of a workspace are closed. `closedUntil`: the first open day in the time zone, `YYYY-MM-DD`; null if no month is closed. */
export type ClosedMonths = { closedUntil: string | null; timeZone: string };

/** Whether an instant is in a closed month. @param at ISO 8601 */
export function isClosed(at: string, { closedUntil, timeZone }: ClosedMonths): boolean {
  return closedUntil !== null && postedOn(timeZone, exactMs(at)) < closedUntil;
}

/**
 * Books postings of closed months at the time of recording, as adjustments: `adjusts` keeps when the cost occurred. Returns the other
 * postings unchanged. For voids and corrections the database does this itself (`private.book_open`).
 * @param closed the closed months of the workspace
 * @param recordedAt ISO 8601
 */
export function bookAsAdjustments<Postings extends readonly Posting[]>(
  postings: Postings,
  closed: ClosedMonths,
  recordedAt: string,
): Postings {
  if (!postings.some(({ occurred_at: at }) => isClosed(at, closed))) return postings;
  return postings.map((posting) =>
    isClosed(posting.occurred_at, closed)
      ? { ...posting, occurred_at: recordedAt, adjusts: posting.occurred_at }
      : posting,
  ) as unknown as Postings;
}
