import { exactText } from "@/components/figures/amount";
import { Delta, growthOf, wholePercent } from "@/components/figures/delta";
import { formatCount, formatNumber } from "@/components/figures/format-count";
import { describeStretch } from "@/components/spend/period-labels";
import type { SpendMeasure } from "@/lib/contract/spend/spend-query";
import type { ExploreChange, ExploreComparison, ExploreSums } from "./data";
import {
  dimensionLabel,
  dimensionNames,
  formatDifference,
  formatMeasured,
  toChartNumber,
} from "./dimensions";
import { titleOf } from "./explore-figure";

/** The text of a change, for the search of the table. */
export function textOfChange(measure: SpendMeasure, { difference, isNew }: ExploreChange): string {
  const written =
    difference === null ? "" : `${formatDifference(measure, difference)} ${exactText(difference)}`;
  return isNew ? `new ${written}` : written;
}

const hiddenBelow = { sm: "max-sm:hidden", lg: "max-lg:hidden" };

/** The width below which a table has no space for differences beside names, by its total: amounts of a trillion need more. */
export const shortChangesBelow = (measure: SpendMeasure, total: ExploreSums["measured"]) =>
  formatMeasured(measure, total).length > 16 ? "lg" : "sm";

/**
 * How a figure differs from that of the days compared with: the difference and its percentage.
 * @param props.shortBelow the width of the page below which only the percentage is shown
 */
export function ChangeFigure({
  measure,
  now,
  change: { before, difference, isNew },
  shortBelow,
}: {
  measure: SpendMeasure;
  now: ExploreSums["measured"];
  change: ExploreChange;
  shortBelow?: keyof typeof hiddenBelow;
}) {
  const title = titleOf(measure, difference);
  if (isNew) return <Delta fraction={null} />;
  if (now === null || before === null || difference === null) return "–";
  if (Number(exactText(difference)) === 0) return <Delta fraction={0} />;
  const growth = growthOf(toChartNumber(measure, now), toChartNumber(measure, before));
  const text = formatDifference(measure, difference);
  // If the percentage rounds to zero, only the difference is shown, not "unchanged".
  if (growth === null || wholePercent(growth) === 0) return <span title={title}>{text}</span>;
  return (
    <span title={title}>
      <span className={shortBelow && hiddenBelow[shortBelow]}>{text} </span>
      <Delta fraction={growth} />
    </span>
  );
}

/** "2 projects", "1 value of team". */
function countGone(by: string, count: number): string {
  const name = dimensionNames[by];
  if (name === undefined) return `${formatCount(count, "value")} of ${dimensionLabel(by)}`;
  return `${formatNumber(count)} ${(count === 1 ? name.one : name.many).toLowerCase()}`;
}

/**
 * A sentence about how the total differs from the days compared with. It counts the values with spend only then, which have no row.
 */
export function TotalChange({
  by,
  measure,
  total,
  to,
  comparison: { stretch, totals, gone },
}: {
  by: string;
  measure: SpendMeasure;
  total: ExploreSums["measured"];
  /** The last day of the answer. */
  to: string;
  comparison: ExploreComparison;
}) {
  const earlier = describeStretch(stretch, to);
  return (
    <p
      className="text-muted-foreground text-sm"
      data-figure="change.total"
      data-exact={totals.difference === null ? "" : exactText(totals.difference)}
    >
      {totals.isNew ? (
        `Nothing was recorded in ${earlier}, which this is compared with.`
      ) : (
        <>
          <ChangeFigure measure={measure} now={total} change={totals} /> against {earlier}.
          {gone ? (
            <>
              {" "}
              {countGone(by, gone.count)} {gone.count === 1 ? "is" : "are"} not listed, because nothing was
              recorded of {gone.count === 1 ? "it" : "them"} in the days shown:{" "}
              <span
                title={titleOf(measure, gone.difference)}
                data-figure="change.gone"
                data-exact={exactText(gone.difference)}
              >
                {formatDifference(measure, gone.difference)}
              </span>
              .
            </>
          ) : null}
        </>
      )}
    </p>
  );
}
