import {
  costNames,
  type FilterOption,
  type FilterOptions,
  sourceNames,
  typeNames,
} from "@/components/activity/filters";
import type { NameBreakdowns } from "@/lib/reads/metrics";

/** What there is to filter by: what was spent on in these days, and every type, source and way to a cost. */
export function readOptions(breakdowns: NameBreakdowns): FilterOptions {
  return {
    project: fromSlices(breakdowns.by_project),
    type: fromNames(typeNames),
    provider: fromSlices(breakdowns.by_provider),
    model: fromSlices(breakdowns.by_model),
    feature: fromSlices(breakdowns.by_feature),
    key: fromSlices(breakdowns.by_key),
    source: fromNames(sourceNames),
    cost_status: fromNames(costNames),
  };
}

function fromSlices(slices: NameBreakdowns["by_project"]): FilterOption[] {
  return slices
    .filter(({ is_rest: isRest }) => !isRest)
    .map(({ value, name }) => ({ value: value ?? "", label: name ?? value ?? "None" }));
}

const fromNames = (names: Record<string, string>): FilterOption[] =>
  Object.entries(names).map(([value, label]) => ({ value, label }));
