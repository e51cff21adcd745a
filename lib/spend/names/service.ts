import { requireMembership } from "@/lib/access/workspaces/membership";
import { maxNames, type NameList, type NamesQuery } from "@/lib/contract/spend/names";
import { clockOf } from "@/lib/contract/values/clock";
import { asUserReading, type UserClaims } from "@/lib/db/transaction";
import { selectFoldedUntil } from "@/lib/spend/folded-days";
import { rangeOf } from "@/lib/spend/period";
import { type FoundName, selectNames } from "./name-queries";

/** The latest sums of months and of days that are searched. A name used only in older ones is not found. */
const mostSums = 200_000;

/**
 * Finds features, people, models, providers and tags by name, among those with spend this year, for the members of a workspace. Reads
 * a limited number of sums and no message.
 * @throws ServiceError not_found
 */
export function findNames(
  claims: UserClaims,
  slug: string,
  { q, environment }: NamesQuery,
): Promise<NameList> {
  return asUserReading(claims, async (client, now) => {
    const { id: workspaceId, time_zone: timeZone } = await requireMembership(client, claims, slug);
    const { from } = rangeOf({ period: "year" }, clockOf(timeZone, now).now);
    const foldedUntil = await selectFoldedUntil(client, workspaceId);
    const scope = { workspaceId, environment, from, foldedUntil, mostSums };
    const found = await selectNames(client, scope, q.trim(), maxNames);
    const of = (dimension: FoundName["dimension"]) =>
      found.filter((name) => name.dimension === dimension).map(({ value }) => value);
    return {
      features: of("feature"),
      people: of("user"),
      models: of("model"),
      providers: of("provider"),
      tags: of("tag"),
    };
  });
}
