import { formatNumber } from "@/components/format-count";
import { formatDay, formatMonthAndYear } from "@/components/format-date";
import { formatUsd } from "@/components/money";
import type { SpendMeasure } from "@/lib/contract/spend-query";

/** The dimensions to choose from besides tags, in the order of the menus. */
export const dimensionNames: Record<string, { one: string; many: string }> = {
  project: { one: "Project", many: "projects" },
  model: { one: "Model", many: "models" },
  user: { one: "Person", many: "people" },
  key: { one: "Key", many: "keys" },
  provider: { one: "Provider", many: "providers" },
  feature: { one: "Feature", many: "features" },
  type: { one: "Type", many: "types" },
  source: { one: "Source", many: "sources" },
  unit: { one: "Unit", many: "units" },
  environment: { one: "Environment", many: "environments" },
  day: { one: "Day", many: "days" },
  week: { one: "Week", many: "weeks" },
  month: { one: "Month", many: "months" },
};

export const calendarNames = ["day", "week", "month"];

/** The label of a dimension; tags are named by the workspace itself. */
export function dimensionLabel(dimension: string): string {
  return dimension.startsWith("tag:") ? dimension.slice(4) : (dimensionNames[dimension]?.one ?? dimension);
}

const values: Record<string, Record<string, string>> = {
  type: {
    usage: "Usage",
    batch: "Batches",
    allocation: "Allocations",
    expense: "Expenses",
    subscription: "Subscriptions",
  },
  source: { api: "API", mcp: "Assistant", manual: "By hand", import: "Import" },
  environment: { live: "Live", test: "Test" },
};

/** What a value of a dimension is shown as. @param value null: rows without one */
export function valueLabel(dimension: string, value: string | null, name: string | null): string {
  if (value === null) return `No ${dimensionLabel(dimension).toLowerCase()}`;
  if (dimension === "month") return formatMonthAndYear(value);
  if (dimension === "week") return `Week of ${formatDay(value)}`;
  if (dimension === "day") return formatDay(value);
  return values[dimension]?.[value] ?? name ?? value;
}

/** The values of dimensions that have few, for filters. */
export const fixedValues = (dimension: string) =>
  Object.entries(values[dimension] ?? {}).map(([value, label]) => ({ value, label }));

/** The measures: their labels, and how a figure is written. @returns "–" for a quotient by zero */
export const measures: Record<SpendMeasure, { label: string; format: (value: string | null) => string }> = {
  cost: { label: "Cost", format: usdOr },
  messages: { label: "Messages", format: countOr },
  tokens: { label: "Tokens", format: countOr },
  cost_per_message: { label: "Cost per message", format: usdOr },
  cost_per_million_tokens: { label: "Cost per million tokens", format: usdOr },
};

function usdOr(value: string | null): string {
  return value === null ? "–" : formatUsd(value);
}

function countOr(value: string | null): string {
  return value === null ? "–" : formatNumber(Number(value));
}

/** Whether cells of a measure sum to its total, so that shares and stacks mean something. */
export const isSummed = (measure: SpendMeasure) => !measure.startsWith("cost_per");
