import type { ClientBase } from "pg";
import type { z } from "zod";
import { requireMembership } from "@/lib/access/workspaces/membership";
import {
  isCalendar,
  type keySpendQuery,
  maxSpendDays,
  type SpendAnswer,
  type SpendDimension,
  type SpendQuery,
} from "@/lib/contract/spend/spend-query";
import { type Clock, clockOf } from "@/lib/contract/values/clock";
import { dayOf } from "@/lib/contract/values/instant";
import type { DayRange } from "@/lib/contract/values/month";
import { asKey, asUserReading, type KeyClaims, type UserClaims } from "@/lib/db/transaction";
import { ServiceError, validationFailed } from "@/lib/errors";
import { loadKeyClock } from "@/lib/ledger/days";
import type { Display } from "@/lib/ledger/pricing/display-currency";
import { displayOf } from "@/lib/spend/conversion";
import type { CutDayOf } from "@/lib/spend/cut-day";
import { selectFoldedUntil } from "@/lib/spend/folded-days";
import { addDays, addMonthStart, countDays } from "@/lib/spend/period";
import { removedWithin } from "@/lib/spend/removed-messages";
import { toAnswer } from "./answer";
import { toConvertedCells, withConverted } from "./converted";
import {
  type CellRow,
  countLines,
  selectCells,
  selectFirstDay,
  selectKeyNames,
  selectProjectNames,
  selectTagNames,
} from "./explore-queries";
import { chooseSource, type ExploreScope } from "./sources";

/** The most rows of sums, and the most lines of the ledger, that one query reads. */
const maxRows = 500_000;
const maxLines = 250_000;

/** The most cells of an answer. */
const maxCells = 5_000;

/**
 * A spend query whose defaults are filled in. `listed`: the values to list as rows instead of the highest. `cut`: the last day, if
 * only a part of it counts.
 */
export type ExploreQuestion = Omit<SpendQuery, "from" | "to" | "currency"> & {
  listed?: (string | null)[];
  cut?: CutDayOf | undefined;
};

/**
 * Answers a member's spend query, in one snapshot.
 * @throws ServiceError not_found, validation_failed, query_too_broad
 */
export function querySpend(claims: UserClaims, slug: string, query: SpendQuery): Promise<SpendAnswer> {
  return asUserReading(claims, async (client, now) => {
    const { id, time_zone: timeZone } = await requireMembership(client, claims, slug);
    const who = { workspaceId: id, isKey: false, isOfUsers: false };
    return loadAnswer(client, who, query, clockOf(timeZone, now));
  });
}

/**
 * Answers a spend query of an API key, within the environment, the projects and the users that the key may read.
 * @throws ServiceError validation_failed, query_too_broad
 */
export function querySpendAsKey(
  claims: KeyClaims,
  query: z.output<typeof keySpendQuery>,
): Promise<SpendAnswer> {
  return asKey(claims, async (client, now) =>
    loadAnswer(
      client,
      { workspaceId: claims.workspace_id, isKey: true, isOfUsers: claims.users !== undefined },
      { ...query, environment: claims.environment },
      await loadKeyClock(client, claims.workspace_id, now),
    ),
  );
}

/**
 * Like `querySpend`, in the caller's transaction, which must be one snapshot.
 * With a currency, the amounts are ConvertedNumbers.
 * @param clock that of the workspace at the transaction's time, which decides what today is
 * @param given the currency in which sums are wanted besides USD, with its rates; by default that of the query
 */
export async function loadAnswer(
  client: ClientBase,
  who: Pick<ExploreScope, "workspaceId" | "isKey" | "isOfUsers">,
  { from, to, currency, ...question }: ExploreQuestion & Pick<SpendQuery, "from" | "to" | "currency">,
  { now, timeZone }: Clock,
  given?: Display,
): Promise<SpendAnswer> {
  const range = rangeOfQuery({ from, to }, now);
  demandFewCells(question, range);
  const display = given ?? (await displayOf(currency, { ranges: [range], today: dayOf(now) }, "currency"));
  const { group_by: groupBy, measure, top, listed, filters, environment, cut } = question;
  // Days with different rates are converted one by one, so they are not read folded.
  const isFolded = display === undefined || display.rates.length === 1;
  const needsTokens = measure === "tokens" || measure === "cost_per_million_tokens";
  const kind = chooseSource(groupBy, { ...who, filters }, needsTokens);
  const foldedUntil = isFolded ? await selectFoldedUntil(client, who.workspaceId) : null;
  const scope = { ...who, environment, filters, range, timeZone, cut, foldedUntil };
  if (kind === "ledger") await demandShortLedger(client, scope);
  const found = await selectCells(client, scope, {
    kind,
    groupBy,
    measure,
    top,
    listed,
    maxRows: kind === "ledger" ? maxLines : maxRows,
    display,
  });
  if (found.readCount > (kind === "ledger" ? maxLines : maxRows)) throw tooBroad(kind);
  const names = await loadNames(client, scope, groupBy, found.cells);
  const context = { names, buckets: bucketsOf(groupBy, range), needsTokens };
  const answer = toAnswer(question, range, found, context);
  return display
    ? withConverted(display, answer, toAnswer(question, range, toConvertedCells(found), context))
    : answer;
}

/**
 * Finds where a query for all days begins: at the first day with a cost, or as far back as a query may read. In the caller's
 * transaction.
 * @returns `first`: the first day with a cost, which may be before `from`; both undefined if there is no cost
 */
export async function loadAllDays(
  client: ClientBase,
  scope: Pick<ExploreScope, "workspaceId" | "environment"> & { to: string; earliest?: string | undefined },
): Promise<{ from: string | undefined; first: string | undefined }> {
  const first = (await selectFirstDay(client, scope)) ?? undefined;
  const from = [first, scope.earliest].flatMap((day) => day ?? []).sort()[0];
  const longest = addDays(scope.to, 1 - maxSpendDays);
  return { from: from && from < longest ? longest : from, first };
}

/** The names of a workspace's tags, which spend can be grouped by, in the caller's transaction. */
export function loadTagNames(client: ClientBase, workspaceId: string): Promise<string[]> {
  return selectTagNames(client, workspaceId);
}

/** The days of a query: the month so far by default. @throws ServiceError validation_failed */
function rangeOfQuery({ from, to }: Pick<SpendQuery, "from" | "to">, now: number): DayRange {
  const last = to ?? (from !== undefined && from > dayOf(now) ? from : dayOf(now));
  const first = from ?? addMonthStart(last, 0);
  const range = { from: first, until: addDays(last, 1) };
  if (countDays(range) > maxSpendDays)
    throw validationFailed([
      { path: "from", message: `must be at most ${maxSpendDays} days before to; choose a shorter range` },
    ]);
  return range;
}

/** The first day of each day, week or month that a query is grouped by; empty if it is grouped by none of them. */
function bucketsOf(groupBy: SpendDimension[], range: DayRange): string[] {
  const part = groupBy.find(isCalendar);
  if (part === undefined) return [];
  const weekday = (new Date(range.from).getUTCDay() + 6) % 7;
  const buckets: string[] = [];
  let first =
    part === "day"
      ? range.from
      : part === "week"
        ? addDays(range.from, -weekday)
        : addMonthStart(range.from, 0);
  while (first < range.until) {
    buckets.push(first);
    first = part === "month" ? addMonthStart(first, 1) : addDays(first, part === "week" ? 7 : 1);
  }
  return buckets;
}

/** @throws ServiceError validation_failed */
function demandFewCells({ group_by: groupBy, top }: ExploreQuestion, range: DayRange): void {
  const buckets = bucketsOf(groupBy, range).length;
  const others = groupBy.some((each) => !isCalendar(each)) ? top + 1 : 1;
  if (buckets * others > maxCells)
    throw validationFailed([
      {
        path: "group_by",
        message: `would make ${buckets * others} cells, and an answer has at most ${maxCells}; choose a longer part of the calendar, a shorter range or a smaller top`,
      },
    ]);
}

/** Refuses a query that has to read the ledger if its range has too many lines, or messages of it were removed. */
async function demandShortLedger(client: ClientBase, scope: ExploreScope): Promise<void> {
  const role = scope.isKey ? "outlay_key" : "authenticated";
  const removedBefore = await removedWithin(client, scope.workspaceId, scope.range, role);
  if (removedBefore !== null)
    throw validationFailed([
      {
        path: "from",
        message: `must be ${removedBefore} or later: tokens and units are counted from messages, and those before were removed`,
      },
    ]);
  if ((await countLines(client, scope)) > maxLines) throw tooBroad("ledger");
}

function tooBroad(kind: "totals" | "sums" | "ledger"): ServiceError {
  const what =
    kind === "ledger"
      ? `Tokens and units are counted from the lines of messages, and this query is about more than ${maxLines}`
      : `This query is about more than ${maxRows} daily sums`;
  return new ServiceError(
    "query_too_broad",
    `${what}. Choose a shorter range (from, to), or add filters, for example by project, key, model, feature or user.`,
  );
}

/** The slugs and names of the projects and keys among the listed values, by their ids. */
async function loadNames(
  client: ClientBase,
  { workspaceId, isKey }: ExploreScope,
  groupBy: SpendDimension[],
  cells: CellRow[],
): Promise<Map<string, { value: string; name: string }>> {
  const idsOf = (dimension: SpendDimension) => {
    const place = groupBy.indexOf(dimension);
    if (place < 0) return [];
    const values = cells.map((cell) => (place === 0 ? cell.row_value : cell.column_value));
    return [...new Set(values.flatMap((value) => value || []))];
  };
  const names = new Map<string, { value: string; name: string }>();
  const projects = idsOf("project");
  if (projects.length > 0)
    for (const { id, slug, name } of await selectProjectNames(client, workspaceId, projects))
      names.set(id, { value: slug, name });
  // A key may not read the names of keys.
  const keys = isKey ? [] : idsOf("key");
  if (keys.length > 0)
    for (const { id, name } of await selectKeyNames(client, workspaceId, keys))
      names.set(id, { value: id, name });
  return names;
}
