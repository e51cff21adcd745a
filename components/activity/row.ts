import { type Amount, type AmountProp, convertedText, exactText } from "@/components/figures/amount";
import { sumExact } from "@/components/figures/exact";
import { formatDigits } from "@/components/figures/format-count";
import { formatDate } from "@/components/figures/format-date";
import type { ActivityList as ActivityAnswer, ActivityRow } from "@/lib/contract/spend/activity";
import type { MessageDetail } from "@/lib/contract/spend/message-detail";
import { groupDigits } from "@/lib/contract/values/group-digits";
import { sourceNames, typeNames } from "./filters";

/** The fields of an activity row that the table shows. A server component passes them on, so amounts are exact text. */
export type ActivityItem = {
  id: string;
  part: number;
  /** ISO 8601. */
  at: string;
  label: string;
  project: string;
  feature: string | null;
  model: string | null;
  person: string | null;
  session: string | null;
  /** `name:value` pairs, joined with commas. */
  tags: string | null;
  emitter: string | null;
  /** The quantity with its unit. */
  quantity: string | null;
  /** Type, provider, model and feature, except those that the label contains, and the month that it adjusts. */
  about: string;
  recordedBy: string;
  /** The amount in USD, with its conversion to the reader's currency. */
  usd: AmountProp;
  /** The amount of the whole message if the row is only a part of it; otherwise null. */
  wholeUsd: AmountProp | null;
  hasNoPrice: boolean;
  /** Whether some of its lines have no price, and the others have an amount. */
  isPartlyPriced: boolean;
  isIncluded: boolean;
  /** Whether it is a voided cost, a void, or a correction that replaces a voided cost. */
  undone: "voided" | "void" | "correction" | null;
  /** The number of matching lines; null for a message without lines. */
  lineCount: number | null;
};

/**
 * A page of the list. `next`: the cursor of the next page; null if there are no more rows. `removedBefore`: the day before which
 * messages were removed, if the list ends because of that; otherwise null.
 */
export type ActivityPage = {
  items: ActivityItem[];
  nextCursor: string | null;
  removedBefore: string | null;
};

/** Maps a response to a page of the list. */
export const toPage = (answer: ActivityAnswer): ActivityPage => ({
  items: answer.activity.map(toItem),
  nextCursor: answer.next_cursor,
  removedBefore: answer.removed_before,
});

/** Maps a row of a response to a row of the table. */
export function toItem(row: ActivityRow): ActivityItem {
  const [usd, wholeUsd] = [exactText(row.amount_usd), exactText(row.message_amount_usd)];
  return {
    id: row.id,
    part: row.part,
    at: row.occurred_at,
    label: localLabel(row),
    project: row.project_name,
    feature: row.feature,
    model: row.model,
    person: row.end_user,
    session: row.session,
    tags:
      Object.entries(row.tags)
        .map(([name, value]) => `${name}:${value}`)
        .join(", ") || null,
    emitter: row.emitter,
    quantity:
      row.quantity === null
        ? null
        : `${formatDigits(exactText(row.quantity))} ${row.unit_type?.replaceAll("_", " ") ?? ""}`.trim(),
    about: aboutOf(row),
    recordedBy: row.key?.name ?? row.user?.name ?? sourceNames[row.source] ?? row.source,
    usd: withConverted(usd, row.converted?.amount),
    wholeUsd: wholeUsd === usd ? null : withConverted(wholeUsd, row.converted?.message_amount),
    hasNoPrice: row.cost_status === "unpriced",
    isPartlyPriced: row.cost_status === "unpriced" && usd !== "0",
    isIncluded: row.cost_status === "included",
    undone: undoneOf(row),
    lineCount: hasLines(row) ? row.line_count : null,
  };
}

/** @param converted undefined if the reader sees only USD */
const withConverted = (usd: string, converted: Amount | undefined): AmountProp =>
  converted === undefined ? usd : { usd, converted: exactText(converted) };

/** The sum of rows, in both currencies if all rows have both. */
export function sumOfItems(items: ActivityItem[]): AmountProp {
  const usd = sumExact(items.map((item) => exactText(item.usd)));
  const converted = items.flatMap((item) => convertedText(item.usd) ?? []);
  return converted.length < items.length ? usd : { usd, converted: sumExact(converted) };
}

function undoneOf({ voids, voided_by: voidedBy, corrects }: ActivityRow): ActivityItem["undone"] {
  if (voids !== null) return "void";
  if (voidedBy !== null) return "voided";
  return corrects === null ? null : "correction";
}

/** A usage with lines has no unit of its own. */
function hasLines({ message_type: type, unit_type: unit }: ActivityRow): boolean {
  return type === "batch" || (type === "usage" && unit === null);
}

function aboutOf(row: ActivityRow): string {
  const { message_type: type, provider, model, feature, label, environment, adjusts } = row;
  const named = [provider, model, feature].filter((part) => part !== null && !label.includes(part));
  return [
    typeNames[type],
    ...named,
    ...(environment === "test" ? ["test"] : []),
    ...(adjusts === null ? [] : [`adjusts ${formatDate(adjusts)}`]),
  ].join(" · ");
}

/** A line of a batch. */
export type BatchLine = MessageDetail["lines"][number];

/** The filters that apply to each line. */
export const lineFilters = ["model", "feature", "end_user", "session", "cost_status"] as const;

/** The filters of lines. An empty text matches lines without a value. */
export type LineFilter = Record<(typeof lineFilters)[number], string | null>;

/** The lines of a batch that match a filter, which the row of the batch sums. */
export function matchingLines(lines: BatchLine[], filter: LineFilter): BatchLine[] {
  return lines.filter((line) =>
    lineFilters.every((name) => filter[name] === null || (line[name] ?? "") === filter[name]),
  );
}

/** Identifies a row: a message may have several. */
export const rowKey = ({ id, part }: Pick<ActivityItem, "id" | "part">): string => `${id}:${part}`;

/**
 * The rows to show after the first page was read again: the fresh page, followed by the older rows that were shown before.
 * When the two have no row in common, more than a page of rows is new. The list then starts again with the fresh page,
 * because the rows in between are not known.
 */
export function mergePages(shown: ActivityPage, fresh: ActivityPage): ActivityPage {
  const freshKeys = new Set(fresh.items.map(rowKey));
  const older = shown.items.filter((item) => !freshKeys.has(rowKey(item)));
  if (older.length === 0 || older.length === shown.items.length) return fresh;
  return { ...shown, items: [...fresh.items, ...older] };
}

/** The shown rows with the next page below them. */
export function appendPage(shown: ActivityPage, next: ActivityPage): ActivityPage {
  const shownKeys = new Set(shown.items.map(rowKey));
  const added = next.items.filter((item) => !shownKeys.has(rowKey(item)));
  return { ...next, items: [...shown.items, ...added] };
}

/** The label of a row. If it ends with the quantity and its unit, the quantity is formatted in the reader's locale. */
function localLabel({
  label,
  quantity,
  unit_type: unit,
}: Pick<ActivityRow, "label" | "quantity" | "unit_type">): string {
  if (quantity === null || unit === null) return label;
  const spoken = unit.replaceAll("_", " ");
  const exact = exactText(quantity);
  // The ending that the API writes, which does not depend on the locale.
  const ending = `${groupDigits(exact)} ${spoken}`;
  if (!label.endsWith(ending)) return label;
  return `${label.slice(0, -ending.length)}${formatDigits(exact)} ${spoken}`;
}
