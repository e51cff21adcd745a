import { exactText } from "@/components/amount";
import type { ActivityRow } from "@/lib/contract/activity";

/** A row of activity whose decimals are exact text, as it passes from the server into the browser. */
export type ActivityItem = Omit<ActivityRow, "amount_usd" | "message_amount_usd" | "quantity"> & {
  amount_usd: string;
  message_amount_usd: string;
  quantity: string | null;
};

/** Rows from the first on, and where those after them begin; null where there are none. */
export type ActivityPage = { items: ActivityItem[]; nextCursor: string | null };

/** Makes an answer's row fit for a client component's props. */
export function toItem(row: ActivityRow): ActivityItem {
  return {
    ...row,
    amount_usd: exactText(row.amount_usd),
    message_amount_usd: exactText(row.message_amount_usd),
    quantity: row.quantity === null ? null : exactText(row.quantity),
  };
}

/** Tells rows apart: a message may have several. */
export const rowKey = ({ id, part }: Pick<ActivityItem, "id" | "part">): string => `${id}:${part}`;

/**
 * The rows that are shown when the first page is read anew: the fresh ones, then those that were shown before and lie
 * behind them. Where nothing of the old is in the new, more came in between than a page holds: the list starts afresh,
 * for a gap in it would look like there had been nothing.
 */
export function mergePages(shown: ActivityPage, fresh: ActivityPage): ActivityPage {
  const freshKeys = new Set(fresh.items.map(rowKey));
  const behind = shown.items.filter((item) => !freshKeys.has(rowKey(item)));
  if (behind.length === 0 || behind.length === shown.items.length) return fresh;
  return { items: [...fresh.items, ...behind], nextCursor: shown.nextCursor };
}

/** The rows that are shown with the next page below them. */
export function appendPage(shown: ActivityPage, next: ActivityPage): ActivityPage {
  const shownKeys = new Set(shown.items.map(rowKey));
  const added = next.items.filter((item) => !shownKeys.has(rowKey(item)));
  return { items: [...shown.items, ...added], nextCursor: next.nextCursor };
}
