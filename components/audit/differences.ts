import { exactText } from "@/components/figures/amount";
import { capitalize } from "@/components/figures/capitalize";
import { formatDigits } from "@/components/figures/format-count";
import { formatDateTime } from "@/components/figures/format-date";
import { ExactNumber } from "@/lib/contract/values/exact-number";
import type { AuditEntry } from "./entry";

/** A changed field with its values as text. `before` is null for a new row, `after` for a deleted one. */
export type ChangedValue = { label: string; before: string | null; after: string | null };

/** Fields that are not shown: ids, times of creation and internal fields. */
const hidden = new Set([
  "id",
  "workspace_id",
  "user_id",
  "created_at",
  "created_by",
  "invited_by",
  "accepted_by",
  "requested_by",
  "api_key_id",
  "client_id",
  "prices_version",
  "last_used_at",
  "kind",
]);

const labels: Record<string, string> = {
  archived_at: "Archived",
  accepted_at: "Accepted",
  revoked_at: "Revoked",
  stopped_at: "Stopped",
  expires_at: "Expires",
  starts_at: "From",
  next_on: "Next charge",
  base_currency: "Currency",
  time_zone: "Time zone",
  unit_type: "Unit",
  scope_type: "Scope",
  scope_value: "Scope value",
  monthly_limit: "Monthly limit, USD",
  raised_limit: "Raised monthly limit, USD",
  raised_until: "Raised through",
  on_limit: "Costs past the limit",
  amount: "Amount, USD",
  rate: "USD per unit",
  change_usd: "Change, USD",
  before_usd: "Before, USD",
  after_usd: "After, USD",
  includes_priced: "Includes priced usage",
  rate_limit_rpm: "Requests in 60 seconds",
  allowed_cidrs: "Allowed addresses",
  project_id: "Bound to project",
  project_slugs: "Only projects",
  deny_project_slugs: "Except projects",
  client_name: "Assistant",
  client_uri: "Assistant's page",
  client_kind: "Type of registration",
  redirect_uri: "Redirect address",
};

/** The fields that differ between a row before and after the change. A new or deleted row has all its non-empty fields. */
export function listDifferences({ before, after }: AuditEntry): ChangedValue[] {
  const [old, fresh] = [flatten(before), flatten(after)];
  const fields = new Set([...Object.keys(old), ...Object.keys(fresh)]);
  return [...fields].flatMap((field): ChangedValue[] => {
    const [was, is] = [formatValue(old[field]), formatValue(fresh[field])];
    if (was === is) return [];
    const label = labels[field] ?? capitalize(field.replaceAll("_", " "));
    return [{ label, before: before && (was || "none"), after: after && (is || "none") }];
  });
}

/** The shown fields of a row. A nested object is replaced by its fields. */
function flatten(row: Record<string, unknown> | null): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(row ?? {}).flatMap(([field, value]): [string, unknown][] => {
      if (hidden.has(field)) return [];
      const isRow =
        typeof value === "object" &&
        value !== null &&
        !Array.isArray(value) &&
        !(value instanceof ExactNumber);
      return isRow ? Object.entries(flatten(value as Record<string, unknown>)) : [[field, value]];
    }),
  );
}

/** A value as text; empty for no value. */
function formatValue(value: unknown): string {
  if (value === null || value === undefined || value === "") return "";
  if (Array.isArray(value)) return value.map(formatValue).join(", ");
  if (value instanceof ExactNumber || typeof value === "number") return formatDigits(exactText(value));
  if (typeof value === "boolean") return value ? "yes" : "no";
  const text = typeof value === "object" ? Object.values(value).map(formatValue).join(": ") : String(value);
  // An instant in the form that Postgres writes in JSON.
  if (/^\d{4}-\d\d-\d\dT[\d:.]+\+00:00$/.test(text)) return `${formatDateTime(text)} UTC`;
  return text;
}
