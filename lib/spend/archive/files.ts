import { join, raw, type Sql, sql } from "@/lib/db/sql";

/** A file of the archive. `statement` reads a workspace's rows, each as the text of one JSON document in the column `line`. */
export type ArchivedFile = { name: string; statement: (workspaceId: string) => Sql };

/**
 * The rows of a table under the names of its columns. Secrets, their hashes and addresses of channels are in the private schema,
 * which no user's transaction reads; row-level security leaves out other people's private views.
 * @param without columns that are only meaningful inside the service
 */
function rowsOf(table: string, orderBy: string, without: string[] = []): ArchivedFile["statement"] {
  const hidden = raw(["workspace_id", ...without].map((name) => `'${name}'`).join(", "));
  const key = raw(table === "workspaces" ? "id" : "workspace_id");
  return (workspaceId) =>
    sql`select (to_jsonb(t) - array[${hidden}])::text as line from public.${raw(table)} as t
      where t.${key} = ${workspaceId} order by ${raw(orderBy)}`;
}

/** All files except those with the messages. */
export const archivedFiles: ArchivedFile[] = [
  {
    name: "workspace.ndjson",
    statement: rowsOf("workspaces", "id", ["prices_version", "deleted_at", "deleted_by"]),
  },
  {
    name: "members.ndjson",
    statement: (workspaceId) =>
      sql`select jsonb_build_object('user_id', m.user_id, 'role', m.role, 'email', p.email, 'display_name', p.display_name, 'joined_at', m.created_at)::text as line
        from public.workspace_members as m left join public.profiles as p on p.id = m.user_id
        where m.workspace_id = ${workspaceId} order by m.created_at, m.user_id`,
  },
  { name: "projects.ndjson", statement: rowsOf("projects", "slug") },
  { name: "prices.ndjson", statement: rowsOf("prices", "provider, model, unit_type, starts_at, id") },
  { name: "budgets.ndjson", statement: rowsOf("budgets", "created_at, id") },
  { name: "api-keys.ndjson", statement: rowsOf("api_keys", "created_at, id") },
  { name: "connections.ndjson", statement: rowsOf("connections", "created_at, id") },
  { name: "invitations.ndjson", statement: rowsOf("invitations", "created_at, id") },
  { name: "subscriptions.ndjson", statement: rowsOf("recurring_subscriptions", "created_at, id") },
  { name: "saved-views.ndjson", statement: rowsOf("saved_views", "created_at, id") },
  { name: "alert-channels.ndjson", statement: rowsOf("alert_channels", "created_at, id") },
  { name: "alert-rules.ndjson", statement: rowsOf("alert_rules", "rule") },
  { name: "alert-snoozes.ndjson", statement: rowsOf("alert_snoozes", "created_at, id") },
  { name: "alerts.ndjson", statement: rowsOf("alerts", "number") },
  { name: "alert-entries.ndjson", statement: rowsOf("alert_entries", "last_number, id") },
  {
    name: "alert-deliveries.ndjson",
    statement: rowsOf("deliveries", "number", [
      "kind",
      "lane",
      "lease",
      "leased_until",
      "reader_id",
      "week",
      "recipient",
      "details",
    ]),
  },
  { name: "message-voids.ndjson", statement: rowsOf("message_voids", "created_at, message_id") },
  { name: "closed-months.ndjson", statement: rowsOf("closed_months", "month, closed_at") },
  {
    name: "provider-accounts.ndjson",
    statement: rowsOf("provider_accounts", "created_at, id", ["lease", "leased_until"]),
  },
  {
    name: "provider-limits.ndjson",
    statement: (workspaceId) =>
      sql`select jsonb_build_object(
          'id', l.id, 'budget_id', l.budget_id, 'account_id', l.account_id, 'provider', l.provider, 'kind', l.kind,
          'target_name', l.target_name, 'period', l.period, 'removes', l.removes, 'state', l.state, 'problem', l.problem,
          'written_usd', l.written_usd, 'written_at', l.written_at, 'held_usd', l.held_usd, 'read_at', l.read_at,
          'created_at', l.created_at, 'created_by_email', l.created_by_email
        )::text as line
        from public.provider_limits as l where l.workspace_id = ${workspaceId} order by l.created_at, l.id`,
  },
  { name: "provider-telemetry.ndjson", statement: rowsOf("provider_telemetry", "created_at, id") },
  { name: "bills.ndjson", statement: rowsOf("bills", "created_at, id") },
  { name: "bill-statements.ndjson", statement: rowsOf("bill_statements", "number") },
  {
    name: "billed-facts.ndjson",
    statement: rowsOf("billed_facts", "statement_id, line, model, unit, tier, key_name, end_user"),
  },
  { name: "bill-adjustments.ndjson", statement: rowsOf("bill_adjustments", "created_at, id") },
  {
    name: "adjusted-differences.ndjson",
    statement: rowsOf("adjusted_differences", "adjustment_id, message_id"),
  },
  { name: "repricings.ndjson", statement: rowsOf("repricings", "created_at, id") },
  { name: "daily-spend.ndjson", statement: rowsOf("daily_spend", "day") },
  { name: "audit-log.ndjson", statement: rowsOf("audit_log", "at, id", ["kind", "subject_id"]) },
];

/** The columns of `messages.csv`: those of the ledger in their order. Lists and objects are written as JSON. */
export const messageColumns = [
  "id",
  "part",
  "occurred_at",
  "created_at",
  "project_id",
  "api_key_id",
  "user_id",
  "type",
  "source",
  "environment",
  "provider",
  "model",
  "feature",
  "unit_type",
  "quantity",
  "amount_usd",
  "cost_status",
  "price",
  "currency",
  "original_amount",
  "batch_id",
  "label",
  "category",
  "notes",
  "metadata",
  "details",
  "end_user",
  "session",
  "tags",
  "emitter",
  "given_cost_usd",
  "list_price_usd",
  "voids",
  "voided_by",
  "counted_at",
  "adjusts",
];

/** The columns of `messageColumns` that are numbers. */
export const numericColumns: ReadonlySet<string> = new Set([
  "part",
  "quantity",
  "amount_usd",
  "original_amount",
  "given_cost_usd",
  "list_price_usd",
]);

/** Every posting, in the order of recording: its JSON, its cells for CSV, and its amount. */
export function messagesStatement(workspaceId: string, as: "lines" | "cells"): Sql {
  const wanted =
    as === "lines"
      ? sql`(to_jsonb(m) - 'workspace_id')::text as line, m.amount_usd::text as amount`
      : sql`array[${join(messageColumns.map((name) => raw(`to_jsonb(m) ->> '${name}'`)))}] as cells`;
  return sql`select ${wanted} from public.messages as m where m.workspace_id = ${workspaceId} order by m.id, m.part, m.occurred_at`;
}
