import { hrefWith, type SearchParams } from "@/components/filters/href";
import { SegmentedLinks } from "@/components/ui/segmented-control";
import type { Dimension } from "@/lib/contract/metrics";
import { describeSeries, type SpendView } from "./describe";
import { SeriesChart } from "./series-chart";

const names: Record<Dimension, string> = {
  project: "Project",
  model: "Model",
  provider: "Provider",
  type: "Type",
  feature: "Feature",
  key: "Key",
};

/** The chart of a page's figures, stacked by what the parameter `by` says, which is chosen above it. */
export function SpendOverTime({
  view,
  dimensions,
  path,
  params,
  now,
}: {
  view: SpendView;
  /** What one may choose from; the first is the one where the address says nothing. */
  dimensions: Dimension[];
  path: string;
  params: SearchParams;
  /** Milliseconds since 1970. */
  now: number;
}) {
  const { bucket, group_by: current } = view.metrics.series;
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
            label: names[dimension],
            href: hrefWith(path, params, { by: dimension === dimensions[0] ? undefined : dimension }),
            current: dimension === current,
          }))}
        />
      </div>
      <SeriesChart label={title} series={describeSeries(view, new Date(now).toISOString().slice(0, 10))} />
    </section>
  );
}
