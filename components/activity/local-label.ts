import { exactText } from "@/components/amount";
import { formatDigits } from "@/components/format-count";
import type { ActivityRow } from "@/lib/contract/activity";

/** The label of a row. Where it ends with the quantity and its unit, the quantity is written by the reader's locale. */
export function localLabel({
  label,
  quantity,
  unit_type: unit,
}: Pick<ActivityRow, "label" | "quantity" | "unit_type">): string {
  if (quantity === null || unit === null) return label;
  const spoken = unit.replaceAll("_", " ");
  const [whole = "", fraction] = exactText(quantity).split(".");
  // As the API writes it, which is the same for everybody.
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ",") + (fraction === undefined ? "" : `.${fraction}`);
  const ending = `${grouped} ${spoken}`;
  if (!label.endsWith(ending)) return label;
  return `${label.slice(0, -ending.length)}${formatDigits(exactText(quantity))} ${spoken}`;
}
