import type { Posting } from "@/lib/ledger/ingest/ledger";

/** Whether an instant is in a closed month. @param at ISO 8601 in UTC @param closedUntil the first open day; null where nothing is closed */
export function isClosed(at: string, closedUntil: string | null): boolean {
  return closedUntil !== null && at.slice(0, 10) < closedUntil;
}

/**
 * Postings as they are booked: those of closed months at the time of recording, as adjustments which keep when the cost occurred.
 * The same postings where none is closed. The database does this for voids and corrections (`private.book_open`).
 * @param closedUntil the first open day of the workspace, `YYYY-MM-DD`; null where nothing is closed
 * @param recordedAt ISO 8601
 */
export function bookOpen<Postings extends readonly Posting[]>(
  postings: Postings,
  closedUntil: string | null,
  recordedAt: string,
): Postings {
  if (!postings.some(({ occurred_at: at }) => isClosed(at, closedUntil))) return postings;
  return postings.map((posting) =>
    isClosed(posting.occurred_at, closedUntil)
      ? { ...posting, occurred_at: recordedAt, adjusts: posting.occurred_at }
      : posting,
  ) as unknown as Postings;
}
