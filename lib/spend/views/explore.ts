import { requireMembership } from "@/lib/access/workspaces/membership";
import type { RangeQuery } from "@/lib/contract/spend/ledger-query";
import type { SpendComparison } from "@/lib/contract/spend/spend-comparison";
import type { SpendQuery } from "@/lib/contract/spend/spend-query";
import { clockOf } from "@/lib/contract/values/clock";
import { dayOf } from "@/lib/contract/values/instant";
import { asUserReading, type UserClaims } from "@/lib/db/transaction";
import { ServiceError } from "@/lib/errors";
import { loadComparison } from "@/lib/spend/explore/comparison";
import { loadAllDays, loadAnswer, loadTagNames } from "@/lib/spend/explore/service";
import { comparedWith } from "@/lib/spend/period";
import { loadProjectSlugs } from "@/lib/spend/projects/service";
import { loadViews } from "@/lib/spend/saved-views/service";

/**
 * Reads the content of the Explore page in one snapshot: the answer, its comparison with other days, the views that the user may
 * open, the names of the workspace's tags, and the slugs of all projects in order of creation. A query without `from` covers all
 * days since the first cost, or as many as can be read; if there is no cost, the month of `to`.
 * @param days the days of the page and what they are compared with
 * @param earliest a day before the first cost from which a query without `from` is to cover, such as the first of billed history
 * @returns the content. `comparison` is an error if the days compared with cannot be read. `first`: for a query without `from`, the
 *   first day with a cost
 * @throws ServiceError not_found, validation_failed, query_too_broad
 */
export function readExplore(
  claims: UserClaims,
  slug: string,
  given: SpendQuery,
  days: RangeQuery,
  earliest?: string,
) {
  return asUserReading(claims, async (client, instant) => {
    const { id, role, time_zone: timeZone } = await requireMembership(client, claims, slug);
    const clock = clockOf(timeZone, instant);
    const { now } = clock;
    const who = { workspaceId: id, isKey: false, isOfUsers: false };
    const { environment, from, to = dayOf(now) } = given;
    const all =
      from === undefined
        ? await loadAllDays(client, { workspaceId: id, environment, to, earliest })
        : undefined;
    const query = { ...given, to, from: from ?? all?.from };
    const answer = await loadAnswer(client, who, query, clock);
    const compared = comparedWith(days, now);
    const comparison: SpendComparison | ServiceError | null =
      compared === undefined
        ? null
        : await loadComparison(client, who, { query, answer, compared }, clock).catch((error: unknown) => {
            if (isRefusal(error)) return error;
            throw error;
          });
    return {
      answer,
      comparison,
      first: all?.first,
      views: await loadViews(client, { workspaceId: id, role, userId: claims.sub }),
      tags: await loadTagNames(client, id),
      projectOrder: await loadProjectSlugs(client, id),
    };
  });
}

/** Whether an error is a refusal of the query, which the page shows instead of an answer. */
export function isRefusal(error: unknown): error is ServiceError {
  return error instanceof ServiceError && ["query_too_broad", "validation_failed"].includes(error.code);
}
