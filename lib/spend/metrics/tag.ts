import { createHash } from "node:crypto";
import type { ClientBase } from "pg";
import { requireMembership } from "@/lib/access/workspaces/membership";
import type { Metrics, MetricsQuery } from "@/lib/contract/spend/metrics";
import { type Clock, clockOf } from "@/lib/contract/values/clock";
import { dayOf } from "@/lib/contract/values/instant";
import { uuid } from "@/lib/db/columns";
import { selectFirst } from "@/lib/db/query";
import { sql } from "@/lib/db/sql";
import { asUserReading, type UserClaims } from "@/lib/db/transaction";
import { isRefusedKnown, selectRefused } from "@/lib/spend/refused-queries";
import { selectTypeTotals, type TypeTotals } from "./metrics-queries";
import { loadMetricsAndTypes } from "./service";
import { daysOf } from "./totals";

/**
 * Makes a tag of the figures of `readTaggedMetrics`, for an ETag, from a few rows of sums. The tag changes when a cost is recorded,
 * refused by a limit or priced on the days of the query or those compared with, when any cost of the workspace is voided or
 * corrected, at midnight, and every ten minutes while today is compared with a part of another day. It does not depend on names,
 * such as those of projects.
 * @throws ServiceError not_found
 */
export function readMetricsTag(claims: UserClaims, slug: string, query: MetricsQuery): Promise<string> {
  return asUserReading(claims, async (client, now) => {
    const { id, time_zone: timeZone } = await requireMembership(client, claims, slug);
    const clock = clockOf(timeZone, now);
    const types = await selectTypeTotals(
      client,
      { workspaceId: id, filters: query },
      daysOf(query, clock.now),
    );
    return loadTag(client, id, query, clock, types);
  });
}

/**
 * A workspace's spend in a period with the tag of its figures, read in one snapshot.
 * @throws ServiceError not_found, validation_failed for a currency without a rate
 */
export function readTaggedMetrics(
  claims: UserClaims,
  slug: string,
  query: MetricsQuery,
): Promise<{ metrics: Metrics; tag: string }> {
  return asUserReading(claims, async (client, now) => {
    const { id, time_zone: timeZone } = await requireMembership(client, claims, slug);
    return loadTaggedMetrics(client, id, query, clockOf(timeZone, now));
  });
}

/** Like `readTaggedMetrics`, in the caller's transaction. @param clock that of the workspace at the transaction's time */
export async function loadTaggedMetrics(
  client: ClientBase,
  workspaceId: string,
  query: MetricsQuery,
  clock: Clock,
): Promise<{ metrics: Metrics; tag: string }> {
  const { metrics, types } = await loadMetricsAndTypes(client, workspaceId, query, clock);
  return { metrics, tag: await loadTag(client, workspaceId, query, clock, types) };
}

/** @param types the rows of `selectTypeTotals` by type, in USD */
async function loadTag(
  client: ClientBase,
  workspaceId: string,
  query: MetricsQuery,
  { now, timeZone }: Clock,
  types: TypeTotals[],
): Promise<string> {
  const until = daysOf(query, now).before?.stretch.cut
    ? new Date(now).toISOString().slice(0, 15)
    : dayOf(now);
  // A correction can move a cost to another project and leave the sums as they were.
  const latestVoid = await selectFirst(
    client,
    { void_id: uuid() },
    sql`select void_id from public.message_voids where workspace_id = ${workspaceId} order by void_id desc limit 1`,
  );
  const scope = { workspaceId, filters: query };
  const refused = isRefusedKnown(scope) && (await selectRefused(client, scope, daysOf(query, now).spent));
  const hash = createHash("sha256").update(JSON.stringify([timeZone, until, latestVoid, types, refused]));
  return `W/"${hash.digest("base64url").slice(0, 22)}"`;
}
