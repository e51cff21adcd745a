import type { ClientBase } from "pg";
import type { ActivityFilters } from "@/lib/contract/spend/activity-filters";
import { validationFailed } from "@/lib/errors";
import type { ZonedDays } from "@/lib/ledger/days";
import { addDays } from "@/lib/spend/period";
import {
  type ActivityPlace,
  type PageOrder,
  type StoredActivity,
  selectActivity,
  selectPlaceAhead,
} from "./activity-queries";
import { type NamedFilter, selectDayAhead, selectLastDay, selectMessageCount } from "./day-queries";

/**
 * Limits how long one search for rare rows takes: a page reads the whole days in which this many messages were recorded, at
 * least one day.
 */
const messagesAStep = 50_000;

/** The rows that one page reads in a search for rare rows in any other order than latest first. */
const rowsAStep = 50_000;

/** The most messages that are read if no index has the requested order. */
const maxAtOnce = 100_000;

/** The position after all rows of a UTC day, latest first. No row has the part -1. */
const behindDay = (day: string): ActivityPlace => ({
  at: `${day}T00:00:00Z`,
  id: "00000000-0000-0000-0000-000000000000",
  part: -1,
});

/** The first UTC day after the rows that follow a position, latest first. */
const dayAfter = ({ at, part }: ActivityPlace) => addDays(at.slice(0, 10), part < 0 ? 0 : 1);

/** A page of rows, and the position where the next one begins; undefined when nothing follows. */
export type ActivityPage = { rows: StoredActivity[]; next: ActivityPlace | undefined };

/**
 * Reads a page of matching rows. If few rows match, a page reads a limited number of days or rows, so it may be short or
 * empty although more rows follow (`next` is set).
 * @throws ServiceError validation_failed if too many rows would be sorted by quantity
 */
export async function readPage(
  client: ClientBase,
  workspaceId: string,
  filters: ActivityFilters,
  range: ZonedDays,
  order: PageOrder,
  limit: number,
): Promise<ActivityPage> {
  if (order.sort !== "-time") return readSortedPage(client, workspaceId, filters, range, order, limit);
  const { after } = order;
  const names = namesIn(filters);
  const isSparse = names.length > 0 || restOf(filters).some((filter) => filter !== undefined);
  // An index finds the rows of a session.
  if (!isSparse || typeof filters.session === "string")
    return cut(await selectActivity(client, workspaceId, filters, range, order, limit + 1), order, limit);
  // Pages follow each other by instant. A day of another time zone may end up to a day later than the UTC day.
  const later = range.timeZone === "UTC" ? 0 : 1;
  const ahead = {
    ...range,
    until: after ? earlier(range.until, addDays(dayAfter(after), later)) : range.until,
  };
  const lastDay =
    names.length > 0 ? await selectLastDay(client, workspaceId, filters, names, ahead) : undefined;
  if (lastDay === null) return { rows: [], next: undefined };
  const left = lastDay === undefined ? ahead : { ...range, until: addDays(lastDay, 1) };
  const dayAhead = (await selectDayAhead(client, workspaceId, filters, left, messagesAStep)) ?? undefined;
  const notBefore = after && dayAhead ? earlier(dayAhead, addDays(dayAfter(after), -1)) : dayAhead;
  const found = await selectActivity(client, workspaceId, filters, left, { ...order, notBefore }, limit + 1);
  const page = cut(found, order, limit);
  return page.next || notBefore === undefined ? page : { ...page, next: behindDay(notBefore) };
}

/** Reads a page in any order but latest first: by an index, at most `rowsAStep` rows at a time, or sorted by quantity. */
async function readSortedPage(
  client: ClientBase,
  workspaceId: string,
  filters: ActivityFilters,
  range: ZonedDays,
  order: PageOrder,
  limit: number,
): Promise<ActivityPage> {
  const names = namesIn(filters);
  const isByQuantity = order.sort.endsWith("quantity");
  if (isByQuantity) await requireFewLines(client, workspaceId, filters, range, "sorts", "query.sort");
  const isSparse = [filters.project, filters.environment, ...names, ...restOf(filters)].some(
    (filter) => filter !== undefined,
  );
  const among = isSparse && !isByQuantity && typeof filters.session !== "string" ? rowsAStep : undefined;
  const found = await selectActivity(client, workspaceId, filters, range, { ...order, among }, limit + 1);
  const page = cut(found, order, limit);
  if (page.next || among === undefined) return page;
  return { ...page, next: await selectPlaceAhead(client, workspaceId, filters, range, order, among) };
}

/**
 * Refuses a request that would read more than `maxAtOnce` messages without the help of an index.
 * @param does what the request does with the messages: the verb that begins the error message
 * @param path the parameter that the error names
 * @throws ServiceError validation_failed
 */
export async function requireFewLines(
  client: ClientBase,
  workspaceId: string,
  filters: ActivityFilters,
  range: ZonedDays,
  does: string,
  path: string,
): Promise<void> {
  const count = await selectMessageCount(client, workspaceId, filters, namesIn(filters), range);
  if (count <= maxAtOnce) return;
  const message = `${does} at most ${maxAtOnce} messages, and up to ${count} match; choose fewer days, a project or a model`;
  throw validationFailed([{ path, message }]);
}

/** Makes a page from the rows found, of which one more than the page holds was read to learn whether others follow. */
function cut(found: StoredActivity[], { sort }: PageOrder, limit: number): ActivityPage {
  const rows = found.slice(0, limit);
  const last = found.length > limit ? rows.at(-1) : undefined;
  return { rows, next: last && placeOf(last, sort) };
}

function placeOf(
  { at, id, part, message_amount_usd, quantity }: StoredActivity,
  sort: PageOrder["sort"],
): ActivityPlace {
  if (sort.endsWith("time")) return { at, id, part };
  return { at, id, part, value: sort.endsWith("amount") ? message_amount_usd : quantity };
}

/** The filters that the daily totals cannot answer. The totals have no rows for spend without a person or tag. */
const restOf = ({
  source,
  cost_status,
  q,
  session,
  emitter,
  user,
  tag,
  min_amount,
  max_amount,
  adjusts,
  tier,
  standing,
}: ActivityFilters) => [
  min_amount,
  max_amount,
  adjusts,
  tier,
  standing,
  source,
  cost_status,
  q,
  session,
  emitter,
  user === null ? user : undefined,
  tag === null ? tag : undefined,
];

/** The filters that the daily totals can answer. A project is left out: an index finds its rows. */
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
