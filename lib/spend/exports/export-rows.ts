import { type CsvCell, csvNumber } from "@/lib/contract/values/csv";
import { toInstant } from "@/lib/contract/values/instant";
import { labelOf } from "@/lib/spend/activity/label";
import type { ExportedPosting } from "./unfold";

/** A column of an export: its name, and its cell for a row. */
export type ExportColumn<Row> = [name: string, cell: (row: Row) => CsvCell];

/** The columns of a posting, one per field of activity. */
export const activityColumns: ExportColumn<ExportedPosting>[] = [
  ["id", (row) => row.id],
  ["part", (row) => csvNumber(String(row.part))],
  ["occurred_at", (row) => toInstant(row.occurred_at.getTime())],
  ["created_at", (row) => toInstant(row.created_at.getTime())],
  ["amount_usd", (row) => csvNumber(row.amount_usd)],
  ["message_amount_usd", (row) => csvNumber(row.message_amount_usd)],
  ["cost_status", (row) => row.cost_status],
  ["message_type", (row) => row.message_type],
  ["label", labelOf],
  ["project_slug", (row) => row.project_slug],
  ["project_name", (row) => row.project_name],
  ["environment", (row) => row.environment],
  ["source", (row) => row.source],
  ["provider", (row) => row.provider],
  ["model", (row) => row.model],
  ["feature", (row) => row.feature],
  ["unit_type", (row) => row.unit_type],
  ["quantity", (row) => csvNumber(row.quantity)],
  ["line_count", (row) => csvNumber(String(row.line_count))],
  ["key_id", (row) => row.key_id],
  ["key_name", (row) => row.key_name],
  ["user_name", (row) => row.user_name],
  ["end_user", (row) => row.end_user],
  ["tags", (row) => (row.tags ?? []).join("; ") || null],
  ["emitter", (row) => row.emitter],
  ["list_price_usd", (row) => csvNumber(row.list_price_usd)],
  ["voids", (row) => row.voids],
  ["voided_by", (row) => row.voided_by],
  ["corrects", (row) => row.corrects],
  ["corrected_by", (row) => row.corrected_by],
  ["adjusts", (row) => row.adjusts && toInstant(row.adjusts.getTime())],
];
