import type { ClientBase } from "pg";
import type { Changes } from "@/lib/contract/spend/changes";
import { periodOf } from "@/lib/contract/spend/ledger-query";
import { dayOf } from "@/lib/contract/values/instant";
import type { DayRange } from "@/lib/contract/values/month";
import { parseDecimal, subtract, sum, toText } from "@/lib/decimal";
import { selectFoldedUntil } from "@/lib/spend/folded-days";
import { addDays, type ComparedQuery, comparedRange, rangeOf, samePointBefore } from "@/lib/spend/period";
import { type Segment, splitDifference } from "./causes";
import { type ComparedRanges, type SegmentRow, selectMovers, selectSegments } from "./change-queries";

/** The most people, keys, and names behind a cause that are listed. */
const maxListed = 3;

/** Explains the difference between two ranges, in the caller's transaction, which must be one snapshot of a member. */
export async function loadChanges(client: ClientBase, comparison: ComparedRanges): Promise<Changes> {
  const foldedUntil = await selectFoldedUntil(client, comparison.workspaceId);
  const rows = await selectSegments(client, { ...comparison, foldedUntil });
  const nameOf = new Map(rows.map(({ project, project_name }) => [project, project_name ?? project]));
  const segments = rows.map(toSegment);
  const movers = await selectMovers(client, { ...comparison, foldedUntil }, maxListed);
  const { difference, causes, volume } = splitDifference(segments);
  const { range, before } = comparison;
  const total = (when: "now" | "before") => sum(segments.map((segment) => segment[when].cost));
  const moversOf = (dimension: "user" | "key") =>
    movers.flatMap(({ value, name, now, before: earlier, ...mover }) =>
      mover.dimension !== dimension || value === null
        ? []
        : [
            {
              value,
              name: name ?? value,
              now_usd: toText(parseDecimal(now)),
              difference_usd: toText(subtract(parseDecimal(now), parseDecimal(earlier))),
            },
          ],
    );
  return {
    from: range.from,
    to: addDays(range.until, -1),
    before_from: before.from,
    before_to: addDays(before.until, -1),
    now_usd: toText(total("now")),
    before_usd: toText(total("before")),
    difference_usd: toText(difference),
    causes: causes.map(({ name, amount, parts }) => ({
      name,
      amount_usd: toText(amount),
      parts: parts.slice(0, maxListed).map((part) => ({
        name: part.name && (nameOf.get(part.name) ?? part.name),
        amount_usd: toText(part.amount),
      })),
    })),
    volume,
    people: moversOf("user"),
    keys: moversOf("key"),
  };
}

/**
 * The days of a query that are over, and those that correspond to them in what it is compared with: so that a day that has
 * only begun is not compared with a whole one.
 * @param now milliseconds since 1970
 * @returns undefined where no day is over, or nothing is compared
 */
export function comparableDays(
  query: ComparedQuery,
  now: number,
): { range: DayRange; before: DayRange } | undefined {
  const whole = rangeOf(query, now);
  const before = comparedRange(query, whole);
  const today = dayOf(now);
  if (!before || whole.from >= today) return undefined;
  if (whole.until <= today) return { range: whole, before };
  const { day } = samePointBefore(periodOf(query), whole, before, Date.parse(today) - 1);
  return { range: { from: whole.from, until: today }, before: { from: before.from, until: addDays(day, 1) } };
}

function toSegment({ project, model, kind, ...row }: SegmentRow): Segment {
  return {
    project,
    model,
    kind,
    now: { cost: parseDecimal(row.now_cost), lines: Number(row.now_lines) },
    before: { cost: parseDecimal(row.before_cost), lines: Number(row.before_lines) },
  };
}
