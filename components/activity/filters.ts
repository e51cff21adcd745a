import type { SearchParams } from "@/components/filters/href";

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

/** The filters that hold, with what they are called for people. */
export function activeFilters(
  params: SearchParams,
  options: FilterOptions,
): { name: FilterName; label: string; value: string }[] {
  return filterFields.flatMap(({ name, label }) => {
    const given = params[name];
    if (typeof given !== "string") return [];
    const known = options[name].find(({ value }) => value === given);
    return [{ name, label, value: known?.label ?? (given || "None") }];
  });
}
