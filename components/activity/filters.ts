import type { SearchParams } from "@/components/filters/href";
import type { ActivityRow } from "@/lib/contract/activity";
import type { Metrics } from "@/lib/contract/metrics";

/** What activity can be filtered by besides time and environment, in the order the menu and the chips show it. */
export const filterFields = [
  { name: "project", label: "Project" },
  { name: "type", label: "Type" },
  { name: "provider", label: "Provider" },
  { name: "model", label: "Model" },
  { name: "feature", label: "Feature" },
  { name: "key", label: "Key" },
  { name: "source", label: "Source" },
  { name: "cost_status", label: "Cost" },
] as const;

export type FilterName = (typeof filterFields)[number]["name"];

/** A value to filter by; an empty one stands for what has none. */
export type FilterOption = { value: string; label: string };

export type FilterOptions = Record<FilterName, FilterOption[]>;

export const typeNames: Record<string, string> = {
  usage: "Usage",
  batch: "Batch",
  allocation: "Allocation",
  expense: "Expense",
  subscription: "Subscription",
};

export const sourceNames: Record<string, string> = {
  api: "API",
  mcp: "Assistant",
  manual: "By hand",
  import: "Import",
};

export const costNames: Record<string, string> = {
  client: "Given with it",
  priced: "Priced",
  converted: "Converted",
  unpriced: "No price yet",
};

/** What there is to filter by; names where the figures of some days are given. */
export function readOptions(spent?: Metrics): FilterOptions {
  return {
    project: fromSlices(spent?.by_project),
    type: fromNames(typeNames),
    provider: fromSlices(spent?.by_provider),
    model: fromSlices(spent?.by_model),
    feature: fromSlices(spent?.by_feature),
    key: fromSlices(spent?.by_key),
    source: fromNames(sourceNames),
    cost_status: fromNames(costNames),
  };
}

const fromNames = (names: Record<string, string>): FilterOption[] =>
  Object.entries(names).map(([value, label]) => ({ value, label }));

function fromSlices(slices: Metrics["by_project"] = []): FilterOption[] {
  return slices
    .filter(({ is_rest: isRest }) => !isRest)
    .map(({ value, name }) => ({ value: value ?? "", label: name ?? value ?? "None" }));
}

/** A filter that holds: what it asks for, and what people call that. */
export type ActiveFilter = { name: FilterName; label: string; value: string; valueLabel: string };

/**
 * The filters that hold.
 * @param row one of the rows they let through, where there is any: it knows what its project and key are called
 */
export function activeFilters(params: SearchParams, row: ActivityRow | undefined): ActiveFilter[] {
  const names: Partial<Record<FilterName, string | undefined>> = {
    project: row?.project_name,
    key: row?.key?.name,
    type: typeNames[String(params.type)],
    source: sourceNames[String(params.source)],
    cost_status: costNames[String(params.cost_status)],
  };
  return filterFields.flatMap(({ name, label }) => {
    const value = params[name];
    if (typeof value !== "string") return [];
    return [{ name, label, value, valueLabel: (value && names[name]) || value || "None" }];
  });
}
