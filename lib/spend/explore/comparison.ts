import type { ClientBase } from "pg";
import type { SpendChange, SpendComparison } from "@/lib/contract/spend/spend-comparison";
import {
  isCalendar,
  type SpendAnswer,
  type SpendCell,
  type SpendMeasure,
  type SpendQuery,
} from "@/lib/contract/spend/spend-query";
import type { Clock } from "@/lib/contract/values/clock";
import { ConvertedNumber, ExactNumber } from "@/lib/contract/values/exact-number";
import { parseDecimal, subtract, toText } from "@/lib/decimal";
import { lowerAsPostgres } from "@/lib/keys/blocking-budgets";
import { toExact } from "@/lib/ledger/pricing/exact";
import { loadCutDay } from "@/lib/spend/cut-day";
import { type Compared, toAnsweredStretch } from "@/lib/spend/period";
import { loadAnswer } from "./service";
import { type ExploreScope, environmentsOf } from "./sources";

type Sums = Pick<SpendCell, "measured">;
type Figure = Exclude<SpendCell["measured"], null>;

/**
 * Compares an answer's totals and rows with those of the days it is compared with, in the caller's transaction, which must be one
 * snapshot of a member.
 * @param query the query that was answered
 * @returns null if no days correspond
 * @throws ServiceError validation_failed, query_too_broad if the other days cannot be read
 */
export async function loadComparison(
  client: ClientBase,
  who: Pick<ExploreScope, "workspaceId" | "isKey" | "isOfUsers">,
  { query, answer, compared }: { query: SpendQuery; answer: SpendAnswer; compared: Compared },
  clock: Clock,
): Promise<SpendComparison | null> {
  const { workspaceId } = who;
  const { cut: day } = compared.stretch;
  const cut =
    day && (await loadCutDay(client, workspaceId, environmentsOf(query.environment), day, clock.timeZone));
  const stretch = toAnsweredStretch(compared, cut?.isEstimate ?? false, clock.timeZone);
  if (!stretch) return null;
  const rows = query.group_by.slice(0, 1).filter((dimension) => !isCalendar(dimension));
  const groups = rows.length === 0 ? [] : answer.rows.groups;
  const listed = groups.filter((group) => !group.is_rest).map(({ value }) => value);
  const { from, to } = stretch;
  const before = await loadAnswer(client, who, { ...query, from, to, group_by: rows, listed, cut }, clock);
  return { stretch, ...toComparison(answer, groups, before) };
}

/** @param groups the rows of the answer that are compared */
function toComparison(
  answer: SpendAnswer,
  groups: SpendAnswer["rows"]["groups"],
  before: SpendAnswer,
): Omit<SpendComparison, "stretch"> {
  const { measure } = answer;
  const isOfProviders = answer.rows.dimension === "provider";
  // The other days may have another spelling of a provider.
  const nameOf = ({ value, is_rest: isRest }: (typeof groups)[number]) =>
    JSON.stringify([isOfProviders && value !== null ? lowerAsPostgres(value) : value, isRest]);
  const earlier = new Map(before.rows.groups.map((group) => [nameOf(group), group]));
  const rest = groups.some((group) => group.is_rest)
    ? undefined
    : before.rows.groups.find((group) => group.is_rest);
  return {
    totals: toChange(measure, answer.totals, before.cells.length === 0 ? undefined : before.totals),
    rows: groups.map((group) => toChange(measure, group, earlier.get(nameOf(group)))),
    gone:
      groups.length > 0 && rest && rest.measured !== null && isSummed(measure)
        ? { count: before.rows.rest_count, difference: subtractFigures(nothing, rest.measured) }
        : null,
  };
}

const nothing = new ExactNumber("0");

/** Whether the parts of a measure sum to its total. Quotients do not. */
const isSummed = (measure: SpendMeasure) => !measure.startsWith("cost_per");

/** @param earlier undefined if nothing was recorded */
function toChange(measure: SpendMeasure, { measured }: Sums, earlier: Sums | undefined): SpendChange {
  const before = earlier?.measured ?? (isSummed(measure) ? nothing : null);
  return {
    before,
    difference: measured === null || before === null ? null : subtractFigures(measured, before),
    isNew: earlier === undefined,
  };
}

/** The exact difference, with that of the converted amounts if there are any. */
function subtractFigures(now: Figure, before: Figure): Figure {
  const difference = toExact(subtract(decimalOf(now), decimalOf(before)));
  if (!(now instanceof ConvertedNumber || before instanceof ConvertedNumber)) return difference;
  return new ConvertedNumber(
    difference.text,
    toText(subtract(parseDecimal(convertedOf(now)), parseDecimal(convertedOf(before)))),
  );
}

const decimalOf = (figure: Figure) => parseDecimal(figure instanceof ExactNumber ? figure.text : figure);

/** The converted amount of a figure. A figure without one is zero, which is zero in every currency. */
const convertedOf = (figure: Figure) => (figure instanceof ConvertedNumber ? figure.converted : "0");
