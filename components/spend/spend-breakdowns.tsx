import { Breakdown } from "@/components/charts/breakdown";
import { asProp } from "@/components/figures/amount";
import { isSubjectDimension, subjectsHref } from "@/components/subjects/subject-names";
import type { Dimension } from "@/lib/contract/spend/metrics";
import { dimensionLabels, type SpendView, shownDimensions, toBreakdownRows } from "./spend-view";

/** The breakdowns of a page's spend, one for each dimension. */
export function SpendBreakdowns({ view, dimensions }: { view: SpendView; dimensions: Dimension[] }) {
  const total = asProp(view.metrics.totals.total_usd);
  return (
    <div className="grid gap-x-10 gap-y-8 md:grid-cols-2">
      {shownDimensions(view, dimensions).map((dimension) => (
        <Breakdown
          key={dimension}
          title={dimensionLabels[dimension].title}
          href={
            isSubjectDimension(dimension) ? subjectsHref(view.workspace, dimension, daysOf(view)) : undefined
          }
          figure={`by_${dimension}`}
          rows={toBreakdownRows(view, dimension)}
          total={total}
        />
      ))}
    </div>
  );
}

/** The days and the environment of the view, as parameters of an address. */
function daysOf({ filter: { period, from, to, environment } }: SpendView) {
  const days = { period, from, to, environment };
  return Object.fromEntries(Object.entries(days).map(([name, value]) => [name, value ?? undefined]));
}
