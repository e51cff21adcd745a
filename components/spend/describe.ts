import { exactText } from "@/components/amount";
import type { BreakdownRow } from "@/components/charts/breakdown";
import { coloursByName, projectColour, restColour } from "@/components/charts/colours";
import { type ActivityFilter, activityHref } from "@/components/filters/href";
import type { Dimension, Metrics } from "@/lib/contract/metrics";
import type { ChartedSeries } from "./series-chart";

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

/**
 * What a chart shows of the series.
 * @param today the UTC day that is not over, `YYYY-MM-DD`
 */
export function describeSeries(view: SpendView, today: string): ChartedSeries {
  const { bucket, group_by: dimension, groups, points, previous } = view.metrics.series;
  const colourOf = colourer(dimension, groups, view.projectOrder);
  return {
    bucket,
    today,
    workspace: view.workspace,
    filter: view.filter,
    groups: groups.map((group) => {
      const href = hrefOf(view, dimension, group);
      const total = exactText(group.total_usd);
      return { name: nameOf(dimension, group), colour: colourOf(group), total, ...(href && { href }) };
    }),
    points: points.map(({ from, total_usd, amounts_usd }, index) => {
      const before = previous[index]?.total_usd;
      return {
        from,
        total: exactText(total_usd),
        amounts: amounts_usd.map(exactText),
        previous: before === undefined ? null : exactText(before),
      };
    }),
  };
}

/** What a breakdown shows; projects in their colours. */
export function describeBreakdown(view: SpendView, dimension: Dimension): BreakdownRow[] {
  const slices = view.metrics[`by_${dimension}`];
  const colourOf = colourer(dimension, slices, view.projectOrder);
  return slices.map((slice) => {
    const href = hrefOf(view, dimension, slice);
    return {
      name: nameOf(dimension, slice),
      total: exactText(slice.total_usd),
      ...(href && { href }),
      ...(dimension === "project" && { colour: colourOf(slice) }),
    };
  });
}
