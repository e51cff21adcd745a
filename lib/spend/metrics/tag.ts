import { createHash } from "node:crypto";
import { requireMembership } from "@/lib/access/workspaces/membership";
import type { Metrics, MetricsQuery } from "@/lib/contract/spend/metrics";
import { clockOf } from "@/lib/contract/values/clock";
import { ExactNumber } from "@/lib/contract/values/exact-number";
import { dayOf } from "@/lib/contract/values/instant";
import { asUserReading, type UserClaims } from "@/lib/db/transaction";
import { selectTypeTotals } from "./metrics-queries";
import { daysOf, toBookedAhead, toTotals } from "./totals";

/**
 * A tag of the figures of `readMetrics`, for an ETag: it changes when a cost is recorded, voided or priced in the days that
 * they are of, and at midnight. Names, of projects for example, are not part of it. It is read from a few rows of sums.
 * @throws ServiceError not_found
 */
export function readMetricsTag(claims: UserClaims, slug: string, query: MetricsQuery): Promise<string> {
  return asUserReading(claims, async (client, now) => {
    const { id, time_zone: timeZone } = await requireMembership(client, claims, slug);
    const clock = clockOf(timeZone, now);
    const days = daysOf(query, clock.now);
    const types = await selectTypeTotals(client, { workspaceId: id, filters: query }, days);
    return tagOf(
      {
        totals: toTotals(types, ""),
        booked_ahead: toBookedAhead(types, days),
        previous: days.before ? { totals: toTotals(types, "before_") } : null,
      },
      clock.now,
    );
  });
}

/** The tag that `readMetricsTag` answers, of figures that were read when the clock showed `now`. */
export function tagOf({ totals, booked_ahead: ahead, previous }: TaggedFigures, now: number): string {
  const figures = [totals, ahead, previous?.totals].map((each) => Object.values(each ?? {}).map(toText));
  return `W/"${createHash("sha256")
    .update(JSON.stringify([dayOf(now), figures]))
    .digest("base64url")
    .slice(0, 22)}"`;
}

type TaggedFigures = Pick<Metrics, "totals" | "booked_ahead"> & {
  previous: Pick<NonNullable<Metrics["previous"]>, "totals"> | null;
};

const toText = (figure: number | string | ExactNumber): string =>
  figure instanceof ExactNumber ? figure.text : String(figure);
