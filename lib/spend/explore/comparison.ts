import type { ClientBase } from "pg";
import type { SpendChange, SpendComparison } from "@/lib/contract/spend/spend-comparison";
import {
  isCalendar,
  type SpendAnswer,
  type SpendCell,
  type SpendMeasure,
  type SpendQuery,
} from "@/lib/contract/spend/spend-query";
import { ConvertedNumber, ExactNumber } from "@/lib/contract/values/exact-number";
import { parseDecimal, subtract, toText } from "@/lib/decimal";
import { lowerAsPostgres } from "@/lib/keys/blocking-budgets";
import { toExact } from "@/lib/ledger/pricing/exact";
import { loadAnswer } from "./service";
import type { ExploreScope } from "./sources";

type Sums = Pick<SpendCell, "measured">;
type Figure = Exclude<SpendCell["measured"], null>;

/**
 * Compares an answer's totals and rows with those of other days, in the caller's transaction, which must be one snapshot.
 * @param query the query that was answered
 * @throws ServiceError validation_failed, query_too_broad where the other days cannot be read
 */
export async function loadComparison(
  client: ClientBase,
  who: Pick<ExploreScope, "workspaceId" | "isKey" | "isOfUsers">,
  { query, answer, days }: { query: SpendQuery; answer: SpendAnswer; days: { from: string; to: string } },
  now: number,
): Promise<SpendComparison> {
  const rows = query.group_by.slice(0, 1).filter((dimension) => !isCalendar(dimension));
  const groups = rows.length === 0 ? [] : answer.rows.groups;
  const listed = groups.filter((group) => !group.is_rest).map(({ value }) => value);
  const before = await loadAnswer(client, who, { ...query, ...days, group_by: rows, listed }, now);
  return toComparison(answer, groups, before);
}

/** @param groups the rows of the answer that are compared */
function toComparison(
  answer: SpendAnswer,
  groups: SpendAnswer["rows"]["groups"],
  before: SpendAnswer,
): SpendComparison {
  const { measure } = answer;
  const isOfProviders = answer.rows.dimension === "provider";
  // The other days may know a provider by another spelling.
  const nameOf = ({ value, is_rest: isRest }: (typeof groups)[number]) =>
    JSON.stringify([isOfProviders && value !== null ? lowerAsPostgres(value) : value, isRest]);
  const earlier = new Map(before.rows.groups.map((group) => [nameOf(group), group]));
  const rest = groups.some((group) => group.is_rest)
    ? undefined
    : before.rows.groups.find((group) => group.is_rest);
  return {
    from: before.from,
    to: before.to,
    totals: toChange(measure, answer.totals, before.cells.length === 0 ? undefined : before.totals),
    rows: groups.map((group) => toChange(measure, group, earlier.get(nameOf(group)))),
    gone:
      groups.length > 0 && rest && rest.measured !== null && isSummed(measure)
        ? { count: before.rows.rest_count, difference: subtractFigures(nothing, rest.measured) }
        : null,
  };
}

const nothing = new ExactNumber("0");

/** Whether parts of a measure sum to its total. */
const isSummed = (measure: SpendMeasure) => !measure.startsWith("cost_per");

/** @param earlier undefined where nothing was recorded */
function toChange(measure: SpendMeasure, { measured }: Sums, earlier: Sums | undefined): SpendChange {
  const before = earlier?.measured ?? (isSummed(measure) ? nothing : null);
  return {
    before,
    difference: measured === null || before === null ? null : subtractFigures(measured, before),
    isNew: earlier === undefined,
  };
}

/** The exact difference, with that of both conversions where there are any. */
function subtractFigures(now: Figure, before: Figure): Figure {
  const difference = toExact(subtract(decimalOf(now), decimalOf(before)));
  if (!(now instanceof ConvertedNumber || before instanceof ConvertedNumber)) return difference;
  return new ConvertedNumber(
    difference.text,
    toText(subtract(parseDecimal(convertedOf(now)), parseDecimal(convertedOf(before)))),
  );
}

const decimalOf = (figure: Figure) => parseDecimal(figure instanceof ExactNumber ? figure.text : figure);

/** Nothing is nothing in every currency. */
const convertedOf = (figure: Figure) => (figure instanceof ConvertedNumber ? figure.converted : "0");
