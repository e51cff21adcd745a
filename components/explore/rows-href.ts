import { utcDay } from "@/components/figures/utc-day";
import { type ActivityFilter, activityHref } from "@/components/filters/href";
import type { ExploreGroup } from "./data";
import type { ExploreState } from "./state";

const dayMs = 86_400_000;

/** The last day of the day, week or month that begins on a day. */
export function lastDayOf(part: string, first: string): string {
  const at = new Date(first);
  if (part === "month") return utcDay(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 0));
  return utcDay(at.getTime() + (part === "week" ? 6 : 0) * dayMs);
}

/** The days that two ranges have in common. */
export function clipDays(days: { from: string; to: string }, range: { from: string; to: string }) {
  const [, from = ""] = [days.from, range.from].sort();
  const [to = ""] = [days.to, range.to].sort();
  return { from, to };
}

/** The fields that activity can be filtered by, one value each. */
const activityFields = ["project", "user", "key", "model", "provider", "feature", "type", "source"];

/**
 * The address of the rows behind a part of an answer.
 * @param groups the row, the column, or both, each with its dimension
 * @returns undefined if activity has no filter for it: for the rest, units, several values at once and "is not"
 */
export function rowsHref(
  workspace: string,
  { filters, environment }: ExploreState,
  range: { from: string; to: string },
  groups: { dimension: string | null; group: ExploreGroup | undefined }[],
): string | undefined {
  const filter: ActivityFilter = { period: "range", environment, ...range };
  const set = (field: string, value: string | null): boolean => {
    const isTag = field.startsWith("tag:");
    if (isTag && value === null) return false;
    const [name, wanted] = isTag ? ["tag", `${field.slice(4)}:${value}`] : [field, value];
    if (name !== "tag" && !activityFields.includes(name)) return false;
    const key = name as "model";
    if (filter[key] !== undefined && filter[key] !== wanted) return false;
    filter[key] = wanted;
    return true;
  };
  for (const { dimension, group } of groups) {
    if (dimension === null || group === undefined) continue;
    if (group.isRest) return undefined;
    if (["day", "week", "month"].includes(dimension)) {
      const first = group.value ?? range.from;
      const last = lastDayOf(dimension, first);
      Object.assign(filter, clipDays({ from: first, to: last }, range));
    } else if (dimension === "environment") filter.environment = group.value;
    else if (!set(dimension, group.value)) return undefined;
  }
  const grouped = groups.flatMap(({ dimension, group }) => (group ? [dimension] : []));
  for (const { field, op, values } of filters) {
    // The shown value of a grouped field has passed the field's filter, so the filter adds nothing.
    if (grouped.includes(field)) continue;
    const [value] = values;
    if (op === "is_not" || values.length !== 1 || value === undefined || !set(field, value || null))
      return undefined;
  }
  return activityHref(workspace, filter);
}
