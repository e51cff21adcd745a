import { environments, problemOfChoices, type SearchParams } from "@/components/filters/href";
import { rangeNames } from "@/components/filters/range";
import type { SpendMeasure, SpendQueryInput } from "@/lib/contract/spend/spend-query";
import { calendarNames, isSummed } from "./dimensions";

/** A filter as the page edits it; an empty value stands for rows without one. */
export type ExploreFilter = { field: string; op: "is" | "is_not"; values: string[] };

/** What the Explore page shows. All of it is in the page's address. */
export type ExploreState = {
  by: string;
  /** The second dimension; null for none. */
  over: string | null;
  measure: SpendMeasure;
  show: "chart" | "table" | "pivot";
  chart: "stacked" | "lines" | "share";
  top: number;
  /** The days of the page and those compared with, by the names of its address; see `readPageRange`. */
  days: Partial<Record<(typeof rangeNames)[number], string | undefined>>;
  environment: "live" | "test";
  filters: ExploreFilter[];
  /** Labels of the series that are hidden. */
  hidden: string[];
  /** Whether billed history is counted; undefined to count it where nothing was recorded yet. */
  history: "on" | "off" | undefined;
};

const listOf = (value: string | string[] | undefined) =>
  value === undefined ? [] : Array.isArray(value) ? value : [value];
const oneOfThem = <Value extends string>(given: string | undefined, values: readonly Value[]) =>
  values.find((value) => value === given) ?? (values[0] as Value);

/** The default second dimension. For all time it is not the day, because an answer would have too many cells. */
function usualOver(by: string, { period }: ExploreState["days"]): string {
  if (calendarNames.includes(by)) return "none";
  return period === "all" ? "month" : "day";
}

/** The names of the tags that a state is about. */
export function tagsOf({ by, over, filters }: ExploreState): string[] {
  const names = [by, over, ...filters.map(({ field }) => field)];
  return [...new Set(names.flatMap((name) => (name?.startsWith("tag:") ? [name.slice("tag:".length)] : [])))];
}

/** The allowed values of parameters that have few, the default first. */
const choices = {
  measure: ["cost", "messages", "tokens", "cost_per_message", "cost_per_million_tokens"],
  show: ["chart", "table", "pivot"],
  chart: ["stacked", "lines", "share"],
  environment: environments,
  history: ["on", "off"],
} as const satisfies Partial<Record<keyof ExploreState, readonly string[]>>;

/**
 * How the chart of a state can be drawn, the default first. Averages are not stacked, a single series has no shares, and values that
 * are not days, weeks or months are not joined by a line.
 */
export function drawingsOf({ by, over, measure }: ExploreState): ExploreState["chart"][] {
  if (over === null && !calendarNames.includes(by)) return ["stacked"];
  if (!isSummed(measure)) return ["lines"];
  return over === null ? ["stacked", "lines"] : ["stacked", "lines", "share"];
}

/** Explains an invalid value of a parameter with few values; undefined if all are valid. */
export function problemOf(params: SearchParams): string | undefined {
  const problem = problemOfChoices(params, choices);
  return problem && `${problem.name} ${problem.text}`;
}

/** Reads the state from the parameters of an address. `problemOf` checks parameters with few values, the API's schema all others. */
export function readState(params: SearchParams): ExploreState {
  const first = (name: string) => listOf(params[name])[0];
  const by = first("by") ?? "project";
  const days = Object.fromEntries(rangeNames.map((name) => [name, first(name)]));
  const over = first("over") ?? usualOver(by, days);
  return {
    by,
    over: over === "none" ? null : over,
    measure: oneOfThem(first("measure"), choices.measure),
    show: oneOfThem(first("show"), choices.show),
    chart: oneOfThem(first("chart"), choices.chart),
    top: Number(first("top") ?? 8),
    days,
    environment: oneOfThem(first("environment"), choices.environment),
    filters: Object.entries(params).flatMap(([name, value]) => {
      const [, op, field] = /^(is|not)\.(.+)$/.exec(name) ?? [];
      if (field === undefined) return [];
      return [{ field, op: op === "is" ? ("is" as const) : ("is_not" as const), values: listOf(value) }];
    }),
    hidden: listOf(params.hide),
    history: choices.history.find((value) => value === first("history")),
  };
}

/** The parameter of an address that sets a part of the query, by the part's path: `["group_by", 1]` is set by `over`. */
export function parameterOf([field, index]: readonly PropertyKey[], { filters }: ExploreState): string {
  if (field === "group_by") return index === 1 ? "over" : "by";
  const filter = field === "filters" && typeof index === "number" ? filters[index] : undefined;
  return filter ? parameterOfFilter(filter) : String(field);
}

const parameterOfFilter = ({ field, op }: ExploreFilter) => `${op === "is" ? "is" : "not"}.${field}`;

/**
 * Whether billed history can be shown with a state: by cost, and in whole or by days, weeks or months. Bills know of a provider alone, not of
 * projects, people or keys.
 */
export const canHaveHistory = ({ by, over, measure, environment, filters }: ExploreState): boolean =>
  measure === "cost" &&
  environment === "live" &&
  by !== "environment" &&
  !calendarNames.includes(by) &&
  (over === null || calendarNames.includes(over)) &&
  filters.every(({ field }) => field === "provider");

/** The query string of a state. Defaults are left out. */
export function writeState(state: ExploreState): string {
  const params = new URLSearchParams();
  const set = (name: string, value: string | undefined, usual: string) => {
    if (value !== undefined && value !== usual) params.set(name, value);
  };
  set("by", state.by, "project");
  set("over", state.over ?? "none", usualOver(state.by, state.days));
  set("measure", state.measure, "cost");
  set("show", state.show, "chart");
  set("chart", state.chart, "stacked");
  set("top", String(state.top), "8");
  for (const [name, value] of Object.entries(state.days)) set(name, value, "");
  set("environment", state.environment, "live");
  for (const filter of state.filters)
    for (const value of filter.values) params.append(parameterOfFilter(filter), value);
  set("history", state.history, "");
  for (const name of state.hidden) params.append("hide", name);
  return params.toString();
}

/** The address of the Explore page with a state. */
export function exploreHref(workspace: string, state: ExploreState): string {
  const query = writeState(state);
  return query === "" ? `/${workspace}/explore` : `/${workspace}/explore?${query}`;
}

/** The API's query for a state and its days. @param days without `from` for all up to `to` */
export function toQuery(
  { by, over, measure, top, environment, filters }: ExploreState,
  { from, to }: { from: string | undefined; to: string },
): SpendQueryInput {
  const groupBy = [by, ...(over === null ? [] : [over])] as NonNullable<SpendQueryInput["group_by"]>;
  return {
    group_by: groupBy,
    measure,
    top,
    from,
    to,
    environment: groupBy.includes("environment") ? "all" : environment,
    filters: filters.map(({ field, op, values }) => ({
      field: field as "model",
      op,
      values: values.map((value) => (value === "" ? null : value)),
    })),
  };
}
