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

/** The cursors of an order. A cursor of another order is refused. Cursors of the default order do not name it. */
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
 * Lists what was recorded in a workspace, latest first or as sorted, a page at a time. A page begins after the
 * last row of the page before, so no row is repeated or missed while others are recorded.
 * @throws ServiceError not_found if the caller is no member, validation_failed for an invalid cursor
 */
export function readActivity(claims: UserClaims, slug: string, query: ActivityQuery): Promise<ActivityList> {
  return asUserReading(claims, async (client, now) => {
    const { id, time_zone: timeZone } = await requireMembership(client, claims, slug);
    return loadActivity(client, id, query, clockOf(timeZone, now));
  });
}

/**
 * Like `readActivity`, in the caller's transaction, which must be one snapshot and whose policies limit what is visible.
 * @param clock that of the workspace at the transaction's time; it decides the current day, week and month
 * @throws ServiceError validation_failed for an invalid cursor
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

/** The amounts of a row in a currency, at the rate of the row's day. */
function convertRow(row: StoredActivity, currency: string, clock: Clock): Pick<ActivityRow, "converted"> {
  // A posting on a future day is converted at today's rate.
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

/** A stored row in the form of the response. */
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
