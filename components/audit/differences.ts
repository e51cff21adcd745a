import { groupDigits } from "@/components/activity/exact";
import { exactText } from "@/components/amount";
import { ExactNumber } from "@/lib/contract/exact-number";
import type { AuditEntry } from "./entry";

/** A field that a change touched, in words; null before for what is new, after for what is gone. */
export type Difference = { label: string; before: string | null; after: string | null };

/** What tells nobody anything: what says which row it is, when it was made, and what the service keeps for itself. */
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
  unit_type: "Unit",
  scope_type: "Of",
  scope_value: "Which",
  monthly_limit: "Monthly limit, USD",
  amount: "Amount, USD",
  rate: "USD for one",
  change_usd: "Change, USD",
  includes_priced: "What was priced before, too",
  rate_limit_rpm: "Requests in 60 seconds",
  allowed_cidrs: "Addresses",
  project_id: "Bound to project",
  project_slugs: "Only projects",
  deny_project_slugs: "Not projects",
  client_name: "Assistant",
  client_uri: "Its page",
  client_kind: "How it is known",
  redirect_uri: "Sent back to",
};

/** What differs between a row before and after; of what is new or gone, everything that is filled in. */
export function listDifferences({ before, after }: AuditEntry): Difference[] {
  const [old, fresh] = [flatten(before), flatten(after)];
  const fields = new Set([...Object.keys(old), ...Object.keys(fresh)]);
  return [...fields].flatMap((field): Difference[] => {
    const [was, is] = [writeValue(old[field]), writeValue(fresh[field])];
    if (was === is) return [];
    const label = labels[field] ?? capitalize(field.replaceAll("_", " "));
    return [{ label, before: before && (was || "none"), after: after && (is || "none") }];
  });
}

/** A row's fields that mean something to people; of a field that has fields itself, those. */
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

const atTime = new Intl.DateTimeFormat("en-US", { dateStyle: "medium", timeStyle: "short", timeZone: "UTC" });

/** A value for people; empty for none. */
function writeValue(value: unknown): string {
  if (value === null || value === undefined || value === "") return "";
  if (Array.isArray(value)) return value.map(writeValue).join(", ");
  if (value instanceof ExactNumber || typeof value === "number") return groupDigits(exactText(value));
  if (typeof value === "boolean") return value ? "yes" : "no";
  const text = String(value);
  // As Postgres writes an instant into JSON.
  if (/^\d{4}-\d\d-\d\dT[\d:.]+\+00:00$/.test(text)) return `${atTime.format(new Date(text))} UTC`;
  return text;
}

const capitalize = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
