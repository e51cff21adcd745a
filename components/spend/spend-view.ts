import type { BreakdownRow } from "@/components/charts/breakdown-rows";
import {
  allocatedColour,
  coloursByName,
  historyColour,
  noneColour,
  projectColour,
  projectColours,
  restColour,
} from "@/components/charts/colours";
import { type Amount, asProp, toNumber } from "@/components/figures/amount";
import { utcDay } from "@/components/figures/utc-day";
import { type ActivityFilter, activityHref } from "@/components/filters/href";
import type { Dimension, Metrics } from "@/lib/contract/spend/metrics";
import type { ChartSeries } from "./bars";
import { comparisonLabel } from "./period-labels";

/** Metrics of a workspace, with the filter that leads to the rows behind them. */
export type SpendView = {
  workspace: string;
  metrics: Metrics;
  /** The filter of the metrics, with the days in the form of activity. */
  filter: ActivityFilter;
  /** The slugs of all projects of the workspace, the oldest first, which decides their colours. */
  projectOrder: string[];
  /** The current day of the workspace, `YYYY-MM-DD`. */
  today: string;
  /** The billed history in the total, and in each point of the series, if there is any. */
  history?: { total: Amount; points: Amount[] } | undefined;
};

/** The label of what providers billed on days of which nothing is recorded. */
export const historyLabel = "Billed history";

/**
 * Makes the view of metrics that pages show.
 * @param filter the filter of the metrics, besides their days
 * @param projectOrder the slugs of all projects of the workspace, the oldest first
 * @param now what the workspace's clock shows; see `Clock.now`
 */
export function toSpendView(
  workspace: string,
  metrics: Metrics,
  filter: Omit<ActivityFilter, "period" | "from" | "to">,
  projectOrder: string[],
  now: number,
): SpendView {
  const { period, from, to } = metrics;
  const days = period === "range" ? { period, from, to } : { period };
  return { workspace, metrics, filter: { ...days, ...filter }, projectOrder, today: utcDay(now) };
}

type Slice = { value: string | null; name: string | null; is_rest: boolean };

/** Labels of message types, in the plural. */
const typeLabels: Record<string, string> = {
  usage: "Usage",
  batch: "Batches",
  allocation: "Allocations",
  expense: "Expenses",
  subscription: "Subscriptions",
  bill_adjustment: "Bill adjustments",
};

/** Labels of the dimensions that spend is grouped by: in the singular, and as the title of a breakdown. */
export const dimensionLabels: Record<Dimension, { label: string; title: string }> = {
  project: { label: "Project", title: "Projects" },
  model: { label: "Model", title: "Models" },
  feature: { label: "Feature", title: "Features" },
  provider: { label: "Provider", title: "Providers" },
  type: { label: "Type", title: "Types" },
  key: { label: "Key", title: "Keys" },
  user: { label: "Person", title: "People" },
  tag: { label: "Tag", title: "Tags" },
};

/** The label of costs without a value of a dimension. Costs without a model are expenses, subscriptions and the like. */
const noValueLabel = (dimension: Dimension) =>
  dimension === "model" ? "Expenses and other costs" : `No ${dimensionLabels[dimension].label.toLowerCase()}`;

function nameOf(dimension: Dimension, { value, name, is_rest: isRest }: Slice): string {
  if (isRest) return "Other";
  if (value === null) return noValueLabel(dimension);
  return dimension === "type" ? (typeLabels[value] ?? value) : (name ?? value);
}

/** Returns the function that gives each slice its colour. */
function colourOfSlices(
  dimension: Dimension,
  slices: Slice[],
  projectOrder: string[],
): (slice: Slice) => string {
  const names = slices.flatMap(({ value }) => value ?? []);
  const colours = dimension === "project" ? projectColours(names, projectOrder) : coloursByName(names);
  return ({ value, is_rest: isRest }) => {
    if (isRest) return restColour;
    return value === null ? noneColour : (colours.get(value) ?? restColour);
  };
}

/** The address of the rows behind a slice; undefined for "Other", which no filter selects. */
function hrefOf({ workspace, filter }: SpendView, dimension: Dimension, slice: Slice): string | undefined {
  return slice.is_rest ? undefined : activityHref(workspace, { ...filter, [dimension]: slice.value });
}

type Layer = Metrics["series"]["layers"][number];

/** The names, colours and links of layers that belong to no value. Allocated amounts link to the allocations. */
const layerLooks: Record<
  Exclude<Layer["kind"], "value">,
  { name: string; colour: string; isAllocated: boolean }
> = {
  rest: { name: "Other", colour: restColour, isAllocated: false },
  rest_below_zero: { name: "Other, below zero", colour: restColour, isAllocated: false },
  allocated_in: { name: "Allocated in", colour: allocatedColour, isAllocated: true },
  allocated_out: { name: "Allocated out", colour: allocatedColour, isAllocated: true },
};

/** Maps the series of the metrics to the props of a chart. */
export function toChartSeries(
  view: SpendView,
  page: ChartSeries["page"],
  notes: ChartSeries["notes"] = [],
): ChartSeries {
  const { bucket, group_by: dimension, layers, points, previous } = view.metrics.series;
  const sliceOf = ({ value, name }: Layer): Slice => ({ value, name, is_rest: false });
  const own = layers.filter(({ kind }) => kind === "value").map(sliceOf);
  const colourOf = colourOfSlices(dimension, own, view.projectOrder);
  const history = historyOf(view);
  return {
    bucket,
    notes,
    page,
    comparison: comparisonLabel(view.metrics),
    today: view.today,
    workspace: view.workspace,
    filter: view.filter,
    groups: [
      ...layers.map((layer) => {
        const total = asProp(layer.total_usd);
        if (layer.kind !== "value") {
          const { isAllocated, ...look } = layerLooks[layer.kind];
          const href = activityHref(view.workspace, { ...view.filter, type: "allocation" });
          return { ...look, total, ...(isAllocated && { href }) };
        }
        const slice = sliceOf(layer);
        const href = hrefOf(view, dimension, slice);
        return { name: nameOf(dimension, slice), colour: colourOf(slice), total, ...(href && { href }) };
      }),
      ...(history ? [{ name: historyLabel, colour: historyColour, total: asProp(history.total) }] : []),
    ],
    points: points.map(({ from, total_usd, layers_usd }, index) => {
      const before = previous[index]?.total_usd;
      return {
        from,
        total: asProp(total_usd),
        amounts: [...layers_usd, ...(history ? [history.points[index] ?? "0"] : [])].map(asProp),
        previous: before === undefined ? null : asProp(before),
      };
    }),
  };
}

/** The history of a view; undefined if the shown days have none. */
const historyOf = ({ history }: SpendView) =>
  history && toNumber(history.total) !== 0 ? history : undefined;

/** The dimensions that the breakdowns of a page show: people and tags only if there are any. */
export function shownDimensions({ metrics }: SpendView, dimensions: Dimension[]): Dimension[] {
  const isNamed = (slices: Slice[]) => slices.some(({ value }) => value !== null);
  return dimensions.filter(
    (dimension) => (dimension !== "user" && dimension !== "tag") || isNamed(metrics[`by_${dimension}`]),
  );
}

/** Maps a breakdown of the metrics to rows. Projects have their colours: those of the chart above, if it draws them. */
export function toBreakdownRows(view: SpendView, dimension: Dimension): BreakdownRow[] {
  const slices = view.metrics[`by_${dimension}`];
  const { group_by: drawn, layers } = view.metrics.series;
  const drawnColours = projectColours(
    drawn === "project" ? layers.flatMap(({ value }) => value ?? []) : [],
    view.projectOrder,
  );
  const colourOf = ({ value }: Slice) =>
    (value !== null && drawnColours.get(value)) || projectColour(value, view.projectOrder);
  const history = historyOf(view);
  const rows = slices.map((slice): BreakdownRow => {
    const href = hrefOf(view, dimension, slice);
    return {
      name: nameOf(dimension, slice),
      total: asProp(slice.total_usd),
      ...(href && { href }),
      ...(dimension === "project" && { colour: colourOf(slice) }),
    };
  });
  // Spend counts by tag only where it has one.
  if (!history || dimension === "tag") return rows;
  const row = { name: historyLabel, total: asProp(history.total), colour: historyColour };
  const place = rows.findIndex(({ total }) => toNumber(total) < toNumber(row.total));
  return place < 0 ? [...rows, row] : rows.toSpliced(place, 0, row);
}
