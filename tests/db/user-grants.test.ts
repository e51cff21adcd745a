import type pg from "pg";
import { expect, test } from "vitest";
import type { Fixtures } from "@/tests/helpers/keys";
import { withDatabase } from "@/tests/helpers/with-database";

// Every column that users may write by SQL: on hosted Supabase, PostgREST and GraphQL offer what is granted here.

let fixtures: Fixtures;
let service: pg.Client;

withDatabase((open) => {
  ({ fixtures, service } = open);
});

/** What each role may write, column by column, in every schema that is not Postgres's own: `schema.table: columns`. */
async function grantsOf(role: string, privilege: "INSERT" | "UPDATE"): Promise<Record<string, string[]>> {
  const { rows } = await fixtures.sql.query<{ name: string; columns: string[] }>(
    `select c.relnamespace::regnamespace || '.' || c.relname as name, array_agg(a.attname::text order by a.attname) as columns
     from pg_class as c
     join pg_attribute as a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
     where c.relkind in ('r', 'p', 'v', 'm', 'f') and c.relnamespace::regnamespace::text !~ '^(pg_|information_schema)'
       and has_column_privilege($1, c.oid, a.attnum, $2)
     group by 1 order by 1`,
    [role, privilege],
  );
  return Object.fromEntries(rows.map(({ name, columns }) => [name, columns]));
}

test("Lets users write the columns that are theirs to choose, and no others", async () => {
  expect(await grantsOf("authenticated", "INSERT")).toEqual({
    "public.api_keys": [
      "allowed_cidrs",
      "conditions",
      "environment",
      "expires_at",
      "monthly_limit",
      "name",
      "on_limit",
      "permissions",
      "project_id",
      "rate_limit_rpm",
      "source_settings",
      "workspace_id",
    ],
    "public.budgets": [
      "alert_amounts",
      "alert_percents",
      "amount",
      "blocks",
      "currency",
      "ends_on",
      "name",
      "owner_id",
      "owner_percent",
      "period",
      "raised_amount",
      "raised_until",
      "scope_type",
      "scope_value",
      "starts_on",
      "time_zone",
      "usd_rate",
      "warned_channels",
      "warned_people",
      "week_start",
      "workspace_id",
    ],
    "public.erasures": ["end_user", "workspace_id"],
    "public.invitations": ["email", "expires_at", "role", "workspace_id"],
    "public.message_voids": ["idempotency_key", "message_id", "reason", "request_hash", "workspace_id"],
    "public.prices": ["model", "provider", "rate", "starts_at", "unit_type", "workspace_id"],
    "public.repricings": ["from_at", "includes_priced", "provider", "to_at", "workspace_id"],
    "public.seen_alerts": ["seen_number", "workspace_id"],
    "public.time_zone_changes": ["time_zone", "workspace_id"],
    "public.weekly_reports": ["time_zone", "workspace_id"],
    "public.saved_views": ["is_shared", "name", "query", "workspace_id"],
    "public.workspaces": ["base_currency", "description", "name", "slug", "time_zone"],
  });
  expect(await grantsOf("authenticated", "UPDATE")).toEqual({
    "public.api_keys": [
      "allowed_cidrs",
      "conditions",
      "expires_at",
      "monthly_limit",
      "name",
      "on_limit",
      "permissions",
      "project_id",
      "raised_limit",
      "raised_until",
      "rate_limit_rpm",
      "revoked_at",
      "source_settings",
    ],
    "public.budgets": [
      "alert_amounts",
      "alert_percents",
      "amount",
      "blocks",
      "name",
      "owner_id",
      "owner_percent",
      "raised_amount",
      "raised_until",
      "warned_channels",
      "warned_people",
    ],
    "public.prices": ["rate"],
    "public.profiles": ["avatar_url", "default_workspace_id", "display_name", "locale", "shown_currency"],
    "public.projects": ["archived_at", "name"],
    // A trigger says who decided, and when.
    "public.recommendations": ["decision", "reason", "until"],
    // A trigger dates both.
    "public.recurring_subscriptions": ["next_on", "stopped_at"],
    "public.seen_alerts": ["seen_number"],
    "public.weekly_reports": ["time_zone"],
    "public.workspace_members": ["role"],
    "public.workspaces": ["base_currency", "description", "name", "require_mfa"],
  });
});

test("Grants users no id, author, kind or creation time in any table", async () => {
  for (const privilege of ["INSERT", "UPDATE"] as const) {
    for (const [table, columns] of Object.entries(await grantsOf("authenticated", privilege))) {
      const chosen = columns.filter((name) =>
        /^(id|kind|type)$|_by(_email)?$|^(created|changed)_at$/.test(name),
      );
      expect(chosen, `${privilege} ${table}`).toEqual([]);
    }
  }
});

test.each(["anon", "outlay_key", "public"])("Lets %s write nothing", async (role) => {
  expect(await grantsOf(role, "INSERT")).toEqual({});
  expect(await grantsOf(role, "UPDATE")).toEqual({});
});

test("Refuses an insert with an id, or for another user, in every table, as PostgREST writes it", async () => {
  /** Columns that name the rows of tables without an `id`. */
  const idColumns: Record<string, string> = {
    "public.message_voids": "void_id",
    "public.seen_alerts": "user_id",
    "public.time_zone_changes": "requested_by",
    "public.weekly_reports": "user_id",
  };
  for (const table of Object.keys(await grantsOf("authenticated", "INSERT"))) {
    await service.query("begin");
    await service.query("select set_config('role', 'authenticated', true)");
    const id = idColumns[table] ?? "id";
    const insert = `insert into ${table} (${id}) select ${id} from json_populate_record(null::${table}, $1)`;
    await expect(
      service.query(insert, [JSON.stringify({ [id]: crypto.randomUUID() })]),
      table,
    ).rejects.toThrow(/permission denied for table/);
    await service.query("rollback");
  }
});
