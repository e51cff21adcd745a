import type { SearchParams } from "@/components/filters/href";
import type { ActivityRow } from "@/lib/contract/spend/activity";
import type { Metrics } from "@/lib/contract/spend/metrics";

/** The fields of the filter menu, in its order. */
export const menuFields = [
  { name: "project", label: "Project" },
  { name: "type", label: "Type" },
  { name: "provider", label: "Provider" },
  { name: "model", label: "Model" },
  { name: "feature", label: "Feature" },
  { name: "user", label: "Person" },
  { name: "tag", label: "Tag" },
  { name: "key", label: "Key" },
  { name: "source", label: "Source" },
  { name: "cost_status", label: "Cost" },
] as const;

/** Every field that activity can be filtered by, besides time and environment, in the order of the chips. */
const filterFields = [
  ...menuFields,
  { name: "session", label: "Session" },
  { name: "emitter", label: "Emitter" },
  { name: "min_amount", label: "Amount from" },
  { name: "max_amount", label: "Amount up to" },
  { name: "adjusts", label: "Adjustments of" },
  { name: "tier", label: "Tier" },
  { name: "standing", label: "Voids" },
] as const;

export type FilterName = (typeof filterFields)[number]["name"];

/** A value to filter by. An empty value selects rows that have no value. */
export type FilterOption = { value: string; label: string };

/** The values of each filter. */
export type FilterOptions = Record<(typeof menuFields)[number]["name"], FilterOption[]>;

/** Labels of message types. */
export const typeNames: Record<string, string> = {
  usage: "Usage",
  batch: "Batch",
  allocation: "Allocation",
  expense: "Expense",
  subscription: "Subscription",
  bill_adjustment: "Bill adjustment",
};

/** Labels of sources. */
export const sourceNames: Record<string, string> = {
  api: "API",
  mcp: "Assistant",
  manual: "By hand",
  import: "Import",
};

/** Labels of cost statuses. */
export const costNames: Record<string, string> = {
  client: "Sent with the message",
  priced: "Priced",
  converted: "Converted",
  unpriced: "No price yet",
  included: "Covered by a subscription",
};

/** The values to filter by: every type, source and cost status, and the slices of the metrics once they are loaded. */
export function toFilterOptions(spend?: Metrics): FilterOptions {
  return {
    project: fromSlices(spend?.by_project),
    type: fromNames(typeNames),
    provider: fromSlices(spend?.by_provider),
    model: fromSlices(spend?.by_model),
    feature: fromSlices(spend?.by_feature),
    user: fromSlices(spend?.by_user),
    tag: [...fromSlices(spend?.by_tag), { value: "", label: "None" }],
    key: fromSlices(spend?.by_key),
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

/** A filter in effect, with the labels of its field and its value. */
export type ActiveFilter = { name: FilterName; label: string; value: string; valueLabel: string };

/**
 * The filters in effect.
 * @param row any row that matches them, which has the names of the filtered project and key
 */
export function activeFilters(params: SearchParams, row: ActivityRow | undefined): ActiveFilter[] {
  const names: Partial<Record<FilterName, string | undefined>> = {
    project: row?.project_name,
    key: row?.key?.name,
    type: typeNames[String(params.type)],
    source: sourceNames[String(params.source)],
    cost_status: costNames[String(params.cost_status)],
    adjusts: params.adjusts === "any" ? "closed months" : undefined,
    standing: "left out",
  };
  return filterFields.flatMap(({ name, label }) => {
    const value = params[name];
    if (typeof value !== "string") return [];
    return [{ name, label, value, valueLabel: (value && names[name]) || value || "None" }];
  });
}
