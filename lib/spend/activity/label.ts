import { groupDigits } from "@/lib/contract/values/group-digits";
import type { StoredActivity } from "./activity-queries";

/**
 * A short name of a row: the label from its sender, otherwise a description of its content.
 * @param separator between the parts of a description
 */
export function labelOf(row: StoredActivity, separator = " · "): string {
  const label = row.label ?? describeContent(row, separator);
  return row.voids === null ? label : `Void: ${label}`;
}

function describeContent(row: StoredActivity, separator: string): string {
  const join = (parts: (string | null | undefined | false)[]) => parts.filter(Boolean).join(separator);
  const { provider, model, unit_type: unit, quantity, details } = row;
  switch (row.message_type) {
    case "usage":
      return join([
        model ?? provider,
        row.has_lines
          ? countLines(row)
          : unit && `${groupDigits(quantity ?? "")} ${unit.replaceAll("_", " ")}`,
      ]);
    case "batch":
      return join([provider, `batch ${row.batch_id}`, countLines(row)]);
    case "expense":
      return join([provider, row.category]);
    case "subscription":
      return join([provider, details?.plan, details?.interval === "year" && `month ${row.part + 1} of 12`]);
    case "allocation":
      return row.part === 0 ? `From ${details?.from_project}` : "To another project";
    case "bill_adjustment":
      return join(["Bill adjustment", model ?? provider]);
  }
}

function countLines({ line_count: count }: StoredActivity): string {
  return count === 1 ? "1 line" : `${count} lines`;
}
