import {
  costNames,
  type FilterOption,
  type FilterOptions,
  sourceNames,
  typeNames,
} from "@/components/activity/filters";
import type { Metrics } from "@/lib/contract/metrics";

/** What there is to filter by: what was spent on in these days, and every type, source and way to a cost. */
export function readOptions(metrics: Metrics): FilterOptions {
  return {
    project: fromSlices(metrics.by_project),
    type: fromNames(typeNames),
    provider: fromSlices(metrics.by_provider),
    model: fromSlices(metrics.by_model),
    feature: fromSlices(metrics.by_feature),
    key: fromSlices(metrics.by_key),
    source: fromNames(sourceNames),
    cost_status: fromNames(costNames),
  };
}

function fromSlices(slices: Metrics["by_project"]): FilterOption[] {
  return slices
    .filter(({ is_rest: isRest }) => !isRest)
    .map(({ value, name }) => ({ value: value ?? "", label: name ?? value ?? "None" }));
}

const fromNames = (names: Record<string, string>): FilterOption[] =>
  Object.entries(names).map(([value, label]) => ({ value, label }));
