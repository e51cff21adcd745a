import type { ClientBase } from "pg";
import { z } from "zod";
import { requireMembership } from "@/lib/access/workspaces/membership";
import { periodOf } from "@/lib/contract/spend/ledger-query";
import type { SessionList, SessionsQuery } from "@/lib/contract/spend/sessions";
import { type Clock, clockOf } from "@/lib/contract/values/clock";
import { ExactNumber } from "@/lib/contract/values/exact-number";
import { instant } from "@/lib/contract/values/fields";
import { toInstant } from "@/lib/contract/values/instant";
import { cursorOf } from "@/lib/db/cursor";
import { asUserReading, type UserClaims } from "@/lib/db/transaction";
import { rangeOf, toAnsweredRange } from "@/lib/spend/period";
import { requireFewLines } from "./activity-page";
import { type SessionPlace, type StoredSession, selectSessions } from "./session-queries";

const session = z.string().max(256);
const cursors = {
  "-amount": cursorOf<SessionPlace>(
    z.strictObject({
      value: z
        .string()
        .max(200)
        .regex(/^-?\d+(\.\d+)?$/),
      session,
    }),
  ),
  "-time": cursorOf<SessionPlace>(z.strictObject({ value: z.iso.datetime().pipe(instant), session })),
};

/**
 * Lists the sessions of a workspace with the totals of their calls, a page at a time.
 * @throws ServiceError not_found if the caller is no member; validation_failed for an invalid cursor, or if too many messages
 *   would be summed
 */
export function readSessions(claims: UserClaims, slug: string, query: SessionsQuery): Promise<SessionList> {
  return asUserReading(claims, async (client, now) => {
    const { id, time_zone: timeZone } = await requireMembership(client, claims, slug);
    return loadSessions(client, id, query, clockOf(timeZone, now));
  });
}

/** Like `readSessions`, in the caller's transaction. */
export async function loadSessions(
  client: ClientBase,
  workspaceId: string,
  { limit, cursor, ...query }: SessionsQuery,
  { now, timeZone }: Clock,
): Promise<SessionList> {
  const range = { ...rangeOf(query, now), timeZone };
  const after = cursor === undefined ? undefined : cursors[query.sort].read(cursor);
  // An index finds the rows of one session.
  if (query.session === undefined) {
    const path = query.from === undefined ? "query.period" : "query.from";
    await requireFewLines(client, workspaceId, query, range, "sums", path);
  }
  const found = await selectSessions(client, workspaceId, query, range, after, limit + 1);
  const rows = found.slice(0, limit);
  const last = found.length > limit ? rows.at(-1) : undefined;
  return {
    period: periodOf(query),
    ...toAnsweredRange(range),
    sessions: rows.map(({ last: _, ...row }) => ({
      ...toTotal(row),
      session: row.session,
      models: row.models,
    })),
    next_cursor: last
      ? cursors[query.sort].write({
          value: query.sort === "-amount" ? last.amount_usd : last.last,
          session: last.session,
        })
      : null,
  };
}

/** The total of a session in the form of the response. */
export const toTotal = (row: Pick<StoredSession, "amount_usd" | "call_count" | "first_at" | "last_at">) => ({
  amount_usd: new ExactNumber(row.amount_usd),
  call_count: row.call_count,
  first_at: toInstant(row.first_at.getTime()),
  last_at: toInstant(row.last_at.getTime()),
});
