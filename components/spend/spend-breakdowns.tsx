import { exactText } from "@/components/amount";
import { Breakdown } from "@/components/charts/breakdown";
import type { Dimension } from "@/lib/contract/metrics";
import { describeBreakdown, dimensionNames, type SpendView } from "./describe";

/** What the figures of a page are made of, by each of some dimensions. */
export function SpendBreakdowns({ view, dimensions }: { view: SpendView; dimensions: Dimension[] }) {
  const total = exactText(view.metrics.totals.total_usd);
  return (
    <div className="grid gap-x-10 gap-y-8 md:grid-cols-2">
      {dimensions.map((dimension) => (
        <Breakdown
          key={dimension}
          title={dimensionNames[dimension]}
          figure={`by_${dimension}`}
          rows={describeBreakdown(view, dimension)}
          total={total}
        />
      ))}
    </div>
  );
}
