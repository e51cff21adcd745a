import type { ClientBase } from "pg";
import type { ActivityFilters } from "@/lib/contract/spend/activity";
import type { DayRange } from "@/lib/contract/values/month";
import { addDays } from "@/lib/spend/period";
import { type ActivityPlace, type StoredActivity, selectActivity } from "./activity-queries";
import { type NamedFilter, selectDayAhead, selectLastDay } from "./day-queries";

/**
 * A search for rare rows is answered in steps, each of which is short: the whole days in which this many messages were
 * recorded, at least one day.
 */
const messagesAStep = 50_000;

/** Follows every row of a day; no row has such a part. */
const behindDay = (day: string): ActivityPlace => ({
  at: `${day}T00:00:00Z`,
  id: "00000000-0000-0000-0000-000000000000",
  part: -1,
});

/** The day after the rows that follow a position. */
const dayAfter = ({ at, part }: ActivityPlace) => addDays(at.slice(0, 10), part < 0 ? 0 : 1);

/** A page of rows, and the position where the next one begins; undefined when nothing follows. */
export type ActivityPage = { rows: StoredActivity[]; next: ActivityPlace | undefined };

/**
 * Reads a page of matching rows. Days without any are skipped, and a page looks at a limited number of days: it may be
 * short or empty although others follow.
 */
export async function readPage(
  client: ClientBase,
  workspaceId: string,
  filters: ActivityFilters,
  range: DayRange,
  after: ActivityPlace | undefined,
  limit: number,
): Promise<ActivityPage> {
  const names = namesIn(filters);
  const isSparse = names.length > 0 || restOf(filters).some((filter) => filter !== undefined);
  if (!isSparse)
    return cut(await selectActivity(client, workspaceId, filters, range, after, limit + 1), limit);
  const ahead = { from: range.from, until: after ? earlier(range.until, dayAfter(after)) : range.until };
  const lastDay =
    names.length > 0 ? await selectLastDay(client, workspaceId, filters, names, ahead) : undefined;
  if (lastDay === null) return { rows: [], next: undefined };
  const left = lastDay === undefined ? ahead : { from: range.from, until: addDays(lastDay, 1) };
  const notBefore = (await selectDayAhead(client, workspaceId, filters, left, messagesAStep)) ?? undefined;
  const found = await selectActivity(client, workspaceId, filters, left, after, limit + 1, notBefore);
  const page = cut(found, limit);
  return page.next || notBefore === undefined ? page : { ...page, next: behindDay(notBefore) };
}

/** One row more than requested, to learn whether others follow. */
function cut(found: StoredActivity[], limit: number): ActivityPage {
  const rows = found.slice(0, limit);
  const last = found.length > limit ? rows.at(-1) : undefined;
  return { rows, next: last && { at: last.at, id: last.id, part: last.part } };
}

/** What the days' totals do not tell. They have no rows for spend without a person or tag. */
const restOf = ({ source, cost_status, q, session, emitter, user, tag }: ActivityFilters) => [
  source,
  cost_status,
  q,
  session,
  emitter,
  user === null ? user : undefined,
  tag === null ? tag : undefined,
];

/** What can be decided from the days' totals. A project's rows have an index of their own. */
function namesIn({ key, provider, model, feature, user, tag, type }: ActivityFilters): NamedFilter[] {
  const named = Object.entries({
    key,
    provider,
    model,
    feature,
    user: user ?? undefined,
    tag: tag ?? undefined,
  })
    .filter(([, value]) => value !== undefined)
    .map(([dimension, value]) => ({ dimension, value }) as NamedFilter);
  return named.length === 0 && type !== undefined ? [{ dimension: "project" }] : named;
}

const earlier = (a: string, b: string) => (a === "infinity" || b < a ? b : a);
