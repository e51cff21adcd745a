import type { ClientBase } from "pg";
import type { Changes } from "@/lib/contract/spend/changes";
import type { Clock } from "@/lib/contract/values/clock";
import { dayOf, toInstant } from "@/lib/contract/values/instant";
import { parseDecimal, subtract, sum, toText } from "@/lib/decimal";
import { loadCutDay } from "@/lib/spend/cut-day";
import { selectFoldedUntil } from "@/lib/spend/folded-days";
import {
  addDays,
  type ComparedQuery,
  comparedWith,
  rangeOf,
  spentWithin,
  toAnsweredStretch,
} from "@/lib/spend/period";
import { type Segment, splitDifference } from "./causes";
import { type ComparedRanges, type SegmentRow, selectMovers, selectSegments } from "./change-queries";

/** The most people, keys, and names behind a cause that are listed. */
const maxListed = 3;

/**
 * Explains why the spend of a period up to now differs from that of the period it is compared with, in the caller's transaction,
 * which must be one snapshot of a member.
 * @returns undefined if the period is compared with nothing
 */
export async function loadChanges(
  client: ClientBase,
  { workspaceId, environment, filters }: Pick<ComparedRanges, "workspaceId" | "environment" | "filters">,
  query: ComparedQuery,
  { now, instant, timeZone }: Clock,
): Promise<Changes | undefined> {
  const compared = comparedWith(query, now);
  const { days: before, cut: cutDay } = compared?.stretch ?? {};
  if (!compared || !before) return undefined;
  const cut = cutDay && (await loadCutDay(client, workspaceId, [environment], cutDay, timeZone));
  const stretch = toAnsweredStretch(compared, cut?.isEstimate ?? false, timeZone);
  if (!stretch) return undefined;
  const range = spentWithin(rangeOf(query, now), now);
  const comparison = { workspaceId, environment, filters, range, before, cut };
  const foldedUntil = await selectFoldedUntil(client, workspaceId);
  const rows = await selectSegments(client, { ...comparison, foldedUntil });
  const projectOf = new Map(
    rows.map((row) => [row.project, { name: row.project_name ?? row.project, value: row.project_slug }]),
  );
  const segments = rows.map(toSegment);
  const movers = await selectMovers(client, { ...comparison, foldedUntil }, maxListed);
  const { difference, causes, volume } = splitDifference(segments);
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
    until: range.until > dayOf(now) ? toInstant(instant) : null,
    before: stretch,
    now_usd: toText(total("now")),
    before_usd: toText(total("before")),
    difference_usd: toText(difference),
    causes: causes.map(({ name, amount, parts }) => ({
      name,
      amount_usd: toText(amount),
      parts: parts.slice(0, maxListed).map((part) => ({
        ...(projectOf.get(part.name ?? "") ?? { name: part.name, value: part.name }),
        amount_usd: toText(part.amount),
      })),
    })),
    volume,
    people: moversOf("user"),
    keys: moversOf("key"),
  };
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
