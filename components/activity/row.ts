import { exactText } from "@/components/amount";
import type { ActivityRow } from "@/lib/contract/activity";
import { sourceNames, typeNames } from "./filters";

/** What the table shows of a row of activity, as it passes from the server into the browser: amounts are exact text. */
export type ActivityItem = {
  id: string;
  part: number;
  /** ISO 8601. */
  at: string;
  label: string;
  project: string;
  feature: string | null;
  /** What the label does not say by itself. */
  about: string;
  recordedBy: string;
  usd: string;
  /** What its message cost, where the row is a part of it. */
  wholeUsd: string | null;
  hasNoPrice: boolean;
};

/** Rows from the first on, and where those after them begin; null where there are none. */
export type ActivityPage = { items: ActivityItem[]; nextCursor: string | null };

/** Takes from an answer's row what the table shows. */
export function toItem(row: ActivityRow): ActivityItem {
  const [usd, wholeUsd] = [exactText(row.amount_usd), exactText(row.message_amount_usd)];
  return {
    id: row.id,
    part: row.part,
    at: row.occurred_at,
    label: row.label,
    project: row.project_name,
    feature: row.feature,
    about: aboutOf(row),
    recordedBy: row.key?.name ?? row.user?.name ?? sourceNames[row.source] ?? row.source,
    usd,
    wholeUsd: wholeUsd === usd ? null : wholeUsd,
    hasNoPrice: row.cost_status === "unpriced",
  };
}

function aboutOf({ message_type: type, provider, model, feature, label, environment }: ActivityRow): string {
  const named = [provider, model, feature].filter((part) => part !== null && !label.includes(part));
  return [typeNames[type], ...named, ...(environment === "test" ? ["test"] : [])].join(" · ");
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
