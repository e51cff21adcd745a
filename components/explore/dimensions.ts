import { type Amount, exactText } from "@/components/figures/amount";
import { formatNumber } from "@/components/figures/format-count";
import { formatDay, formatMonthAndYear } from "@/components/figures/format-date";
import { formatChartAmount, formatMoney, formatSignedMoney, shownNumber } from "@/components/figures/money";
import type { SpendMeasure } from "@/lib/contract/spend/spend-query";

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
    bill_adjustment: "Bill adjustments",
  },
  source: { api: "API", mcp: "Assistant", manual: "By hand", import: "Import" },
  environment: { live: "Live", test: "Test" },
};

/** The label of a value of a dimension. @param value null for rows without one */
export function valueLabel(dimension: string, value: string | null, name: string | null): string {
  // Costs without a model are expenses, subscriptions and the like.
  if (value === null && dimension === "model") return "Expenses and other costs";
  if (value === null) return `No ${dimensionLabel(dimension).toLowerCase()}`;
  if (dimension === "month") return formatMonthAndYear(value);
  if (dimension === "week") return `Week of ${formatDay(value)}`;
  if (dimension === "day") return formatDay(value);
  return values[dimension]?.[value] ?? name ?? value;
}

/** The values of a dimension that has only a few, for filters. */
export const fixedValues = (dimension: string) =>
  Object.entries(values[dimension] ?? {}).map(([value, label]) => ({ value, label }));

/** The measures and their labels. */
export const measures: Record<SpendMeasure, { label: string }> = {
  cost: { label: "Cost" },
  messages: { label: "Messages" },
  tokens: { label: "Tokens" },
  cost_per_message: { label: "Cost per message" },
  cost_per_million_tokens: { label: "Cost per million tokens" },
};

/** Whether a measure is an amount, which is shown in the reader's currency. */
export const isMoney = (measure: SpendMeasure) => measure.startsWith("cost");

/** Formats a figure of a measure. @returns "–" for a division by zero */
export function formatMeasured(measure: SpendMeasure, value: Amount | null): string {
  if (value === null) return "–";
  return isMoney(measure) ? formatMoney(value) : formatNumber(Number(exactText(value)));
}

/** Formats the difference of two figures of a measure: with its sign; zero has none. */
export function formatDifference(measure: SpendMeasure, difference: Amount): string {
  if (isMoney(measure)) return formatSignedMoney(difference);
  const value = Number(exactText(difference));
  const sign = value > 0 ? "+" : value < 0 ? "−" : "";
  return `${sign}${formatNumber(Math.abs(value))}`;
}

/** Formats a figure of a measure for a chart, which has one currency. */
export function formatCharted(measure: SpendMeasure, value: Amount | null): string {
  return value !== null && isMoney(measure) ? formatChartAmount(value) : formatMeasured(measure, value);
}

/** A figure of a measure as a double: for drawing, and for shares. Amounts are in the one currency of charts. */
export function toChartNumber(measure: SpendMeasure, value: Amount): number {
  return isMoney(measure) ? shownNumber(value) : Number(exactText(value));
}

/** Whether cells of a measure sum to its total, so that shares and stacks are meaningful. */
export const isSummed = (measure: SpendMeasure) => !measure.startsWith("cost_per");
