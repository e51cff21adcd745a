"use client";

import { useRouter } from "next/navigation";
import { Plot } from "@/components/charts/plot";
import type { ExactSeries, Place } from "@/components/charts/series";
import type { AmountProp } from "@/components/figures/amount";
import { formatShortNumber } from "@/components/figures/format-count";
import {
  formatDaysOf,
  formatMonthAndYear,
  formatMonthsOf,
  formatWeekdaysOf,
} from "@/components/figures/format-date";
import { formatTick } from "@/components/figures/money";
import type { ExploreData, ExploreGroup, ExploreSums } from "./data";
import { calendarNames, formatCharted, isMoney, isSummed, measures, toChartNumber } from "./dimensions";
import { clipDays, lastDayOf, rowsHref } from "./rows-href";
import { drawingsOf, type ExploreState, exploreHref } from "./state";

/** The chart of an answer: a series for each row and a place for each column; without columns, a place for each row. */
export function ExploreChart({
  workspace,
  state,
  data,
  today,
}: {
  workspace: string;
  state: ExploreState;
  data: ExploreData;
  /** The current day of the workspace, `YYYY-MM-DD`. */
  today: string;
}) {
  const router = useRouter();
  const { measure } = state;
  const groups = placesOf(state, data);
  const dimension = state.over ?? state.by;
  const isCalendar = calendarNames.includes(dimension);
  const kinds = drawingsOf(state);
  const kind = kinds.includes(state.chart) ? state.chart : (kinds[0] ?? "stacked");
  const unfinished = groups.findIndex(
    ({ value }) => isCalendar && value !== null && value <= today && today <= lastDayOf(dimension, value),
  );
  return (
    <Plot
      label={`${measures[state.measure].label} ${state.over === null ? "" : `by ${dimension}`}`}
      series={seriesOf(state, data).filter(({ name }) => !state.hidden.includes(name))}
      // A single series is already the total of each place. With hidden series, the total would not match what is drawn.
      totals={
        state.over === null || state.hidden.length > 0
          ? undefined
          : data.columns.map(({ measured }) => measured)
      }
      places={toPlaces(dimension, groups)}
      kind={kind}
      unfinished={unfinished < 0 ? undefined : unfinished}
      unit={isCalendar ? dimension : "bar"}
      isSummed={isSummed(state.measure)}
      format={(figure) => formatCharted(measure, figure)}
      formatTick={(value) => (isMoney(measure) ? formatTick(value) : formatShortNumber(value))}
      onOpen={(place) => {
        const href = rowsHref(workspace, state, data, [{ dimension, group: groups[place] }]);
        if (href) router.push(href);
      }}
      onZoom={
        isCalendar
          ? (first, last) => {
              const from = groups[first]?.value ?? data.from;
              const to = lastDayOf(dimension, groups[last]?.value ?? data.to);
              router.push(
                exploreHref(workspace, {
                  ...state,
                  days: { ...state.days, period: "range", ...clipDays({ from, to }, data) },
                }),
              );
            }
          : undefined
      }
    />
  );
}

/** The places along the axis: the columns, or the rows if there are no columns. */
function placesOf({ over }: ExploreState, { rows, columns }: ExploreData): ExploreGroup[] {
  return over === null ? rows : columns;
}

/** The series of an answer: its rows, or a single one named by the measure if there are no columns. */
export function seriesOf(
  { over, measure }: ExploreState,
  { rows, columns, cells }: ExploreData,
): ExactSeries[] {
  const numberOf = (measured: ExploreSums["measured"]) =>
    measured === null ? null : toChartNumber(measure, measured);
  if (over === null)
    return [
      {
        name: measures[measure].label,
        colour: "var(--chart-1)",
        values: rows.map(({ measured }) => numberOf(measured)),
        exact: rows.map(({ measured }) => measured),
      },
    ];
  const exact = rows.map(() => columns.map((): AmountProp | null => (isSummed(measure) ? "0" : null)));
  for (const { row, column, measured } of cells) {
    const ofRow = exact[row];
    if (ofRow) ofRow[column] = measured;
  }
  return rows.map(({ label, colour }, row) => {
    const figures = exact[row] ?? [];
    return { name: label, colour, values: figures.map(numberOf), exact: figures };
  });
}

function toPlaces(dimension: string, groups: ExploreGroup[]): Place[] {
  const values = groups.flatMap(({ value }) => value ?? []);
  const [formatMonth, formatDay] = [formatMonthsOf(values), formatDaysOf(values)];
  const formatTitle = formatWeekdaysOf(values);
  return groups.map(({ value, label }) => {
    if (value === null) return { title: label, short: label };
    if (dimension === "day") return { title: formatTitle(value), short: formatDay(value) };
    if (dimension === "week") return { title: `Week of ${formatDay(value)}`, short: formatDay(value) };
    if (dimension === "month") return { title: formatMonthAndYear(value), short: formatMonth(value) };
    return { title: label, short: label };
  });
}
