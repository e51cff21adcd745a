import type { ClientBase } from "pg";
import { requireMembership } from "@/lib/access/workspaces/membership";
import type { RangeQuery } from "@/lib/contract/spend/ledger-query";
import type { SubjectDimension, SubjectList, SubjectSpend } from "@/lib/contract/spend/subjects";
import { type Clock, clockOf } from "@/lib/contract/values/clock";
import { ConvertedNumber, ExactNumber } from "@/lib/contract/values/exact-number";
import { dayOf } from "@/lib/contract/values/instant";
import { asUserReading, type UserClaims } from "@/lib/db/transaction";
import { parseDecimal, subtract, toText } from "@/lib/decimal";
import { displayOf } from "@/lib/spend/conversion";
import { loadCutDay } from "@/lib/spend/cut-day";
import { selectFoldedUntil } from "@/lib/spend/folded-days";
import { comparedWith, rangeOf, spentWithin, toAnsweredStretch } from "@/lib/spend/period";
import { type SubjectRow, selectSubjects } from "./subject-queries";

/** The most subjects that one list has. */
const maxSubjects = 1_000;

/**
 * Lists what each person, key, model, feature, tag or project cost in a range and how that differs from the days compared with, the
 * highest spend first, for members, in one snapshot.
 * @param currency a second currency; with one, amounts are ConvertedNumbers
 * @throws ServiceError not_found
 */
export function listSubjects(
  claims: UserClaims,
  slug: string,
  query: RangeQuery & { dimension: SubjectDimension; environment: "live" | "test" },
  currency?: string,
): Promise<SubjectList> {
  return asUserReading(claims, async (client, now) => {
    const { id, time_zone: timeZone } = await requireMembership(client, claims, slug);
    return loadSubjects(client, id, query, { currency, clock: clockOf(timeZone, now) });
  });
}

/** Like `listSubjects`, in the caller's transaction, which must be one snapshot. */
export async function loadSubjects(
  client: ClientBase,
  workspaceId: string,
  { dimension, environment, ...query }: Parameters<typeof listSubjects>[2],
  { currency, clock: { now, timeZone } }: { currency: string | undefined; clock: Clock },
): Promise<SubjectList> {
  const spent = spentWithin(rangeOf(query, now), now);
  const compared = comparedWith(query, now);
  const { days: before, cut: cutDay } = compared?.stretch ?? {};
  const cut = cutDay && (await loadCutDay(client, workspaceId, [environment], cutDay, timeZone));
  const stretch =
    (compared && before && toAnsweredStretch(compared, cut?.isEstimate ?? false, timeZone)) ?? null;
  const display = await displayOf(currency, { ranges: [spent, before], today: dayOf(now) });
  const foldedUntil = await selectFoldedUntil(client, workspaceId);
  const scope = { workspaceId, environment, dimension, spent, before, cut, foldedUntil, display };
  const rows = await selectSubjects(client, scope, maxSubjects);
  return {
    subjects: rows.map((row) => toSubject(row, stretch !== null)),
    found: Number(rows[0]?.found ?? 0),
    compared: stretch,
  };
}

function toSubject(row: SubjectRow, isCompared: boolean): SubjectSpend {
  const minus = (a: string, b: string) => toText(subtract(parseDecimal(a), parseDecimal(b)));
  const amount = (usd: string, converted: string | null) =>
    converted === null ? new ExactNumber(usd) : new ConvertedNumber(usd, converted);
  const { spent, before, converted_spent: convertedSpent, converted_before: convertedBefore } = row;
  const converted =
    convertedSpent === null || convertedBefore === null ? null : minus(convertedSpent, convertedBefore);
  return {
    value: row.value,
    name: row.name,
    spent: amount(spent, convertedSpent),
    messages: Number(row.messages),
    unpriced: Number(row.unpriced),
    change: isCompared
      ? {
          before: amount(before, convertedBefore),
          difference: amount(minus(spent, before), converted),
          isNew: Number(before) === 0 && Number(spent) !== 0,
        }
      : null,
  };
}
