import type { ClientBase } from "pg";
import { z } from "zod";
import { requireMembership } from "@/lib/access/workspaces/membership";
import { fromTagList } from "@/lib/contract/ledger/attribution";
import {
  type ActivityList,
  type ActivityQuery,
  type ActivityRow,
  type ActivitySort,
  activitySorts,
} from "@/lib/contract/spend/activity";
import { comparisonOf, periodOf } from "@/lib/contract/spend/ledger-query";
import { type Clock, clockOf, postedOn } from "@/lib/contract/values/clock";
import { ExactNumber } from "@/lib/contract/values/exact-number";
import { instant } from "@/lib/contract/values/fields";
import { dayOf, toInstant } from "@/lib/contract/values/instant";
import { type Cursor, cursorOf } from "@/lib/db/cursor";
import { asUserReading, type UserClaims } from "@/lib/db/transaction";
import { multiply, parseDecimal } from "@/lib/decimal";
import { displayIn } from "@/lib/ledger/pricing/display-currency";
import { toExact } from "@/lib/ledger/pricing/exact";
import { displayOf } from "@/lib/spend/conversion";
import { comparedWith, rangeOf, toAnsweredRange } from "@/lib/spend/period";
import { removedWithin } from "@/lib/spend/removed-messages";
import { readPage } from "./activity-page";
import type { ActivityPlace, StoredActivity } from "./activity-queries";
import { labelOf } from "./label";

const place = { at: z.iso.datetime().pipe(instant), id: z.uuid(), part: z.int().min(-1).max(32_767) };

const exactText = z
  .string()
  .max(200)
  .regex(/^-?\d+(\.\d+)?$/);

/** The cursors of an order; a cursor of another order is refused. Those of the usual one name none. */
function cursorsOf(sort: ActivitySort): Cursor<ActivityPlace & { sort?: ActivitySort }> {
  if (sort === "-time") return cursorOf(z.strictObject(place));
  const named = { ...place, sort: z.literal(sort) };
  if (sort === "time") return cursorOf(z.strictObject(named));
  return cursorOf(
    z.strictObject({ ...named, value: sort.endsWith("amount") ? exactText : exactText.nullable() }),
  );
}

const cursors = Object.fromEntries(activitySorts.map((sort) => [sort, cursorsOf(sort)])) as Record<
  ActivitySort,
  Cursor<ActivityPlace & { sort?: ActivitySort }>
>;

/**
 * What was recorded in a workspace, latest first or as sorted, a page at a time (specification 4.3). Pages follow the place of the
 * last row, so that no row comes twice or is missed whatever is recorded meanwhile.
 * @throws ServiceError not_found to strangers, validation_failed for a cursor that is none
 */
export function readActivity(claims: UserClaims, slug: string, query: ActivityQuery): Promise<ActivityList> {
  return asUserReading(claims, async (client, now) => {
    const { id, time_zone: timeZone } = await requireMembership(client, claims, slug);
    return loadActivity(client, id, query, clockOf(timeZone, now));
  });
}

/**
 * The same in a transaction of the caller's, one snapshot, whose policies decide what is seen.
 * @param clock that of the workspace at the transaction's time: which day, week or month is the current one
 * @throws ServiceError validation_failed for a cursor that is none
 */
export async function loadActivity(
  client: ClientBase,
  workspaceId: string,
  { limit, cursor, currency, sort, ...filters }: ActivityQuery,
  clock: Clock,
): Promise<ActivityList> {
  const { now, timeZone } = clock;
  const range = { ...rangeOf(filters, now), timeZone };
  const before = comparedWith(filters, now)?.whole;
  const display = await displayOf(currency, { ranges: [], today: dayOf(now) });
  const after = cursor === undefined ? undefined : cursors[sort].read(cursor);
  const { rows, next } = await readPage(client, workspaceId, filters, range, { sort, after }, limit);
  return {
    period: periodOf(filters),
    ...toAnsweredRange(range),
    compare: comparisonOf(filters),
    previous: before ? (toAnsweredRange(before) as { from: string; to: string }) : null,
    count: rows.length,
    activity: rows.map((row) => ({
      ...toActivityRow(row),
      ...(display && convertRow(row, display.currency, clock)),
    })),
    next_cursor: next ? cursors[sort].write(sort === "-time" ? next : { ...next, sort }) : null,
    removed_before: next ? null : await removedWithin(client, workspaceId, range),
  };
}

/** The amounts of a row at the rate of its day, as answers have them. */
function convertRow(row: StoredActivity, currency: string, clock: Clock): Pick<ActivityRow, "converted"> {
  // What is booked for a day to come has the rate of today.
  const day = [postedOn(clock.timeZone, row.occurred_at.getTime()), dayOf(clock.now)].sort()[0] ?? "";
  const rate = displayIn(currency, { from: day, until: day })?.rates[0];
  if (!rate) return {};
  const convert = (usd: string) => toExact(multiply(parseDecimal(usd), parseDecimal(rate.perUsd)));
  return {
    converted: {
      currency,
      amount: convert(row.amount_usd),
      message_amount: convert(row.message_amount_usd),
      rate_date: rate.rateDate,
    },
  };
}

/** A row as answers have it. */
export function toActivityRow(row: StoredActivity): ActivityRow {
  const {
    at: _,
    undone_later: __,
    batch_id,
    category,
    details,
    key_id,
    key_name,
    user_id,
    user_name,
    ...rest
  } = row;
  return {
    ...rest,
    amount_usd: new ExactNumber(row.amount_usd),
    message_amount_usd: new ExactNumber(row.message_amount_usd),
    quantity: row.quantity === null ? null : new ExactNumber(row.quantity),
    list_price_usd: row.list_price_usd === null ? null : new ExactNumber(row.list_price_usd),
    tags: fromTagList(row.tags),
    label: labelOf(row),
    created_at: toInstant(row.created_at.getTime()),
    occurred_at: toInstant(row.occurred_at.getTime()),
    adjusts: row.adjusts && toInstant(row.adjusts.getTime()),
    key: key_id === null ? null : { id: key_id, name: key_name ?? "" },
    user: user_id === null ? null : { id: user_id, name: user_name ?? "" },
  };
}
