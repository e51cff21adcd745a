import { toDrawn } from "@/components/charts/chart-data";
import { SpendDrawing } from "@/components/charts/spend-drawing";
import { hrefWith, type SearchParams } from "@/components/filters/href";
import { SegmentedLinks } from "@/components/ui/segmented-control";
import type { Dimension } from "@/lib/contract/spend/metrics";
import { type ChartSeries, toBars } from "./bars";
import { SeriesChart } from "./series-chart";
import { dimensionLabels, type SpendView, toChartSeries } from "./spend-view";

/** The chart of a page's spend. The links above it choose the stacking, which is the parameter `by` of the address. */
export function SpendOverTime({
  view,
  dimensions,
  path,
  params,
  notes,
}: {
  view: SpendView;
  /** The dimensions to stack by. The first is used when the address has no `by`. */
  dimensions: Dimension[];
  path: string;
  params: SearchParams;
  /** The events marked above the bars. */
  notes: ChartSeries["notes"];
}) {
  const { bucket, group_by: current } = view.metrics.series;
  const series = toChartSeries(view, { path, params }, notes);
  const title = bucket === "day" ? "Spend by day" : "Spend by month";
  return (
    <section aria-labelledby="over-time">
      <div className="flex flex-wrap items-center justify-between gap-3 pb-4">
        <h2 id="over-time" className="font-medium text-sm">
          {title}
        </h2>
        <SegmentedLinks
          label="Stacked by"
          options={dimensions.map((dimension) => ({
            label: dimensionLabels[dimension].label,
            href: hrefWith(path, params, { by: dimension === dimensions[0] ? undefined : dimension }),
            current: dimension === current,
          }))}
        />
      </div>
      <SeriesChart
        label={title}
        series={series}
        drawing={<SpendDrawing {...toDrawn({ groups: series.groups, ...toBars(series) })} />}
      />
    </section>
  );
}
