import { coloursByName, projectColour, restColour } from "@/components/charts/colours";
import type { ChartGroup, ChartPoint } from "@/components/charts/spend-chart";
import { type ActivityFilter, activityHref } from "@/components/filters/href";
import type { Dimension, Metrics } from "@/lib/contract/metrics";

/** Figures as a page shows them: of which workspace, and by which filters one gets to the rows behind them. */
export type SpendView = {
  workspace: string;
  metrics: Metrics;
  /** What the figures were asked for with. */
  filter: ActivityFilter;
  /** The slugs of all projects of the workspace, the oldest first: they give projects their colours. */
  projectOrder: string[];
};

type Slice = { value: string | null; name: string | null; is_rest: boolean };

/** What people call a message type. */
const typeNames: Record<string, string> = {
  usage: "Usage",
  batch: "Batches",
  allocation: "Allocations",
  expense: "Expenses",
  subscription: "Subscriptions",
};

/** What spend is broken down by, as headings have it. */
export const dimensionNames: Record<Dimension, string> = {
  project: "Projects",
  model: "Models",
  feature: "Features",
  provider: "Providers",
  type: "Types",
  key: "Keys",
};

function nameOf(dimension: Dimension, { value, name, is_rest: isRest }: Slice): string {
  if (isRest) return "Other";
  if (value === null) return `No ${dimension}`;
  return dimension === "type" ? (typeNames[value] ?? value) : (name ?? value);
}

function colourer(dimension: Dimension, slices: Slice[], projectOrder: string[]): (slice: Slice) => string {
  if (dimension === "project") return ({ value }) => projectColour(value, projectOrder);
  const colours = coloursByName(slices.flatMap(({ value }) => value ?? []));
  return ({ value }) => (value === null ? restColour : (colours.get(value) ?? restColour));
}

/** The rows behind a slice; none behind a rest, which no filter can name. */
function hrefOf({ workspace, filter }: SpendView, dimension: Dimension, slice: Slice): string | undefined {
  return slice.is_rest ? undefined : activityHref(workspace, { ...filter, [dimension]: slice.value });
}

const dayName = new Intl.DateTimeFormat("en-US", {
  weekday: "short",
  day: "numeric",
  month: "short",
  timeZone: "UTC",
});
const dayShort = new Intl.DateTimeFormat("en-US", { day: "numeric", month: "short", timeZone: "UTC" });
const monthName = new Intl.DateTimeFormat("en-US", { month: "long", year: "numeric", timeZone: "UTC" });
const monthShort = new Intl.DateTimeFormat("en-US", { month: "short", timeZone: "UTC" });

/**
 * What a chart shows of the series.
 * @param today the UTC day that is not over, `YYYY-MM-DD`
 */
export function describeChart(
  view: SpendView,
  today: string,
): { groups: ChartGroup[]; points: ChartPoint[]; unfinished: number | undefined } {
  const { bucket, group_by: dimension, groups, points, previous } = view.metrics.series;
  const colourOf = colourer(dimension, groups, view.projectOrder);
  const end = bucket === "day" ? (day: string) => day : lastDayOfMonth;
  const [long, short] = bucket === "day" ? [dayName, dayShort] : [monthName, monthShort];
  const unfinished = points.findIndex(({ from }) => from <= today && today <= end(from));
  return {
    unfinished: unfinished < 0 ? undefined : unfinished,
    groups: groups.map((group) => {
      const href = hrefOf(view, dimension, group);
      const colour = colourOf(group);
      return { name: nameOf(dimension, group), colour, total: group.total_usd, ...(href && { href }) };
    }),
    points: points.map(({ from, total_usd, amounts_usd }, index) => ({
      title: long.format(new Date(from)),
      short: short.format(new Date(from)),
      total: total_usd,
      amounts: amounts_usd,
      previous: previous[index]?.total_usd ?? null,
      href: activityHref(view.workspace, { ...view.filter, period: "range", from, to: end(from) }),
    })),
  };
}

function lastDayOfMonth(day: string): string {
  const date = new Date(day);
  return new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).toISOString().slice(0, 10);
}

/** What a breakdown shows; projects in their colours. */
export function describeBreakdown(view: SpendView, dimension: Dimension) {
  const slices = view.metrics[`by_${dimension}`];
  const colourOf = colourer(dimension, slices, view.projectOrder);
  return slices.map((slice) => ({
    name: nameOf(dimension, slice),
    total: slice.total_usd,
    href: hrefOf(view, dimension, slice),
    ...(dimension === "project" && { colour: colourOf(slice) }),
  }));
}
