import type { DayRange } from "@/lib/contract/month";
import { addMonthStart } from "@/lib/spend/period";

/**
 * The slices of months, by the month's first day: sums by three names in place of all, such as `feature key model`, the one with the fewest
 * rows first. See docs/decisions/0262-slice-folded-months.md.
 */
export type SlicedMonths = Record<string, string[]>;

/** The names that slices may keep, by what queries are about. A model is kept with its provider. */
const sliceable: Record<string, string | undefined> = {
  project: "project",
  key: "key",
  provider: "model",
  model: "model",
  feature: "feature",
  user: "user",
};

/**
 * Divides months by where they are read: each in the slice with the fewest rows that keeps all of the names.
 * @param months the first day of the first month, and the day before which they end
 * @returns first days of months by slice, and by undefined those that have no such slice
 */
export function divideAtSlices(
  { from, until }: DayRange,
  names: string[],
  sliced: SlicedMonths,
): Map<string | undefined, string[]> {
  const wanted = names.map((name) => sliceable[name] ?? name);
  const divided = new Map<string | undefined, string[]>();
  for (let month = from; month < until; month = addMonthStart(month, 1)) {
    const slice = sliced[month]?.find((each) => {
      const kept = each.split(" ");
      return wanted.every((name) => kept.includes(name));
    });
    divided.set(slice, [...(divided.get(slice) ?? []), month]);
  }
  return divided;
}
