import { exactText } from "@/components/figures/amount";
import { formatDigits } from "@/components/figures/format-count";
import type { ActivityRow } from "@/lib/contract/spend/activity";
import { groupDigits } from "@/lib/contract/values/group-digits";

/** The label of a row. Where it ends with the quantity and its unit, the quantity is written by the reader's locale. */
export function localLabel({
  label,
  quantity,
  unit_type: unit,
}: Pick<ActivityRow, "label" | "quantity" | "unit_type">): string {
  if (quantity === null || unit === null) return label;
  const spoken = unit.replaceAll("_", " ");
  const exact = exactText(quantity);
  // The API writes the same label for everybody.
  const ending = `${groupDigits(exact)} ${spoken}`;
  if (!label.endsWith(ending)) return label;
  return `${label.slice(0, -ending.length)}${formatDigits(exact)} ${spoken}`;
}
