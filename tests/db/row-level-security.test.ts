import { randomUUID } from "node:crypto";
import type pg from "pg";
import { beforeAll, describe, expect, test } from "vitest";
import type { TestDatabase } from "@/tests/helpers/database";
import { fillTables } from "@/tests/helpers/fill-tables";
import { foldPastDays } from "@/tests/helpers/folds";
import type { Fixtures } from "@/tests/helpers/keys";
import { claimsOf, createMember, createUser } from "@/tests/helpers/sql-user";
import { withDatabase } from "@/tests/helpers/with-database";

let fixtures: Fixtures;
let service: pg.Client;

let database: TestDatabase;

withDatabase((open) => {
  ({ database, fixtures, service } = open);
});

/** Runs a statement as another role, within a transaction that is undone. */
async function as(
  role: string,
  settings: Record<string, unknown>,
  sql: string,
): Promise<Record<string, unknown>[]> {
  await service.query("begin");
  try {
    await service.query("select set_config('role', $1, true)", [role]);
    for (const [name, value] of Object.entries(settings)) {
      await service.query("select set_config($1, $2, true)", [name, JSON.stringify(value)]);
    }
    return (await service.query(sql)).rows;
  } finally {
    await service.query("rollback");
  }
}

const tables = async (schema: string): Promise<string[]> =>
  (
    await fixtures.sql.query(
      "select c.relname from pg_class as c where c.relnamespace = $1::regnamespace and c.relkind in ('r', 'p') order by 1",
      [schema],
    )
  ).rows.map(({ relname }) => relname);

describe("Every table", () => {
  test("Has row-level security", async () => {
    const { rows } = await fixtures.sql.query(
      `select c.relnamespace::regnamespace || '.' || c.relname as name from pg_class as c
       where c.relnamespace in ('public'::regnamespace, 'private'::regnamespace) and c.relkind in ('r', 'p') and not c.relrowsecurity`,
    );
    expect(rows).toEqual([]);
  });

  test("Is closed to anon, and in the private schema to every API role", async () => {
    for (const table of await tables("public")) {
      await expect(as("anon", {}, `select from public.${table}`), table).rejects.toThrow(/permission denied/);
    }
    for (const table of await tables("private")) {
      for (const role of ["anon", "authenticated", "outlay_key"]) {
        await expect(as(role, {}, `select from private.${table}`), `${role} ${table}`).rejects.toThrow(
          /permission denied/,
        );
      }
    }
  });

  /** Tables that users delete from themselves, row by row, as their policies allow; each has tests of its own. */
  const deletable = [
    "budgets",
    "connections",
    "invitations",
    "saved_views",
    "slack_links",
    "weekly_reports",
    "workspace_members",
  ];

  test("Cannot be truncated by any API role", async () => {
    for (const table of await tables("public")) {
      for (const role of ["anon", "authenticated", "outlay_key"]) {
        if (role === "authenticated" && deletable.includes(table)) continue;
        await expect(as(role, {}, `delete from public.${table}`), `${role} ${table}`).rejects.toThrow(
          /permission denied/,
        );
      }
    }
  });

  test("Is closed to the service's login, which runs granted functions and switches roles", async () => {
    for (const schema of ["public", "private"]) {
      for (const table of await tables(schema)) {
        await expect(service.query(`select from ${schema}.${table}`), table).rejects.toThrow(
          /permission denied/,
        );
      }
    }
    await expect(service.query("select from auth.users")).rejects.toThrow(/permission denied/);
    await expect(service.query("set role service_role")).rejects.toThrow(/permission denied/);
    await expect(service.query("set role postgres")).rejects.toThrow(/permission denied/);
  });
});

test("Grants PUBLIC no function, and lets no function find its names by the caller's search_path", async () => {
  // The names in a body of standard SQL (prosqlbody) were bound when the function was created.
  const { rows } = await fixtures.sql.query(`
    select p.oid::regprocedure::text as name from pg_proc as p
    where p.pronamespace in ('public'::regnamespace, 'private'::regnamespace)
      and (has_function_privilege('anon', p.oid, 'execute') 
        or p.prosqlbody is null and not coalesce(p.proconfig::text like '%search_path=%', false))`);
  expect(rows).toEqual([]);
  const { rows: bound } = await fixtures.sql.query(`
    select p.oid::regproc::text as name from pg_proc as p
    where p.pronamespace in ('public'::regnamespace, 'private'::regnamespace)
      and p.prosqlbody is not null and p.proconfig is null order by 1`);
  // Postgres merges these into the statements that read budgets or days, which it does with no function that has a setting.
  // `npm run advisors` leaves their warnings out. A new one belongs here only if setting a search_path costs.
  expect(bound.map(({ name }) => name)).toEqual([
    "private.budget_amount",
    "private.budget_limit",
    "private.budget_now",
    "private.budget_period",
    "private.budget_period_end",
    "private.budget_periods",
    "private.is_in_budget",
    "private.is_on_days",
    "private.key_limit",
    "private.local_time",
    "private.places_of",
  ]);
});

describe("A key's reads", () => {
  let workspace: string;
  let other: string;

  beforeAll(async () => {
    [workspace, other] = [await fixtures.workspace(), await fixtures.workspace()];
    await fixtures.sql.query("select private.ensure_messages_month('2026-11-01')");
    for (const owner of [workspace, other]) {
      for (const slug of ["a", "b"]) {
        const project = await fixtures.project(owner, slug);
        for (const environment of ["live", "test"]) {
          await fixtures.sql.query("select private.store_messages('[]', $1, '[]')", [
            JSON.stringify([
              {
                workspace_id: owner,
                id: crypto.randomUUID(),
                occurred_at: "2026-11-05T00:00:00Z",
                created_at: "2026-11-05T00:00:00Z",
                project_id: project,
                type: "usage",
                source: "api",
                environment,
                amount_usd: "1",
                cost_status: "client",
              },
            ]),
          ]);
        }
      }
    }
    await foldPastDays(fixtures);
  });

  const totalsTables = ["daily_totals", "monthly_totals"] as const;

  const see = async (claims: Record<string, unknown>) => {
    const settings = {
      "request.api_key": {
        id: "k",
        workspace_id: workspace,
        environment: "live",
        allow: null,
        deny: [],
        ...claims,
      },
    };
    const seen = async (table: string) =>
      (
        await as(
          "outlay_key",
          settings,
          `
        select p.slug, t.environment from public.${table} as t
        join public.projects as p on p.id = t.project_id and p.workspace_id = t.workspace_id order by 1, 2`,
        )
      ).map(({ slug, environment }) => `${slug} ${environment}`);
    const messages = await seen("messages");
    expect(await seen("daily_spend")).toEqual(messages);
    for (const table of totalsTables) {
      const statement = `select sum(amount_usd) as usd from public.${table} where dimension = 'project'`;
      const [total] = await as("outlay_key", settings, statement);
      expect(Number(total?.usd), table).toBe(messages.length);
    }
    return messages;
  };

  test("See its workspace, environment and projects, whatever the statement asks for", async () => {
    expect(await see({})).toEqual(["a live", "b live"]);
    expect(await see({ environment: "test" })).toEqual(["a test", "b test"]);
    expect(await see({ allow: ["a"] })).toEqual(["a live"]);
    expect(await see({ deny: ["a"] })).toEqual(["b live"]);
    expect(await see({ allow: [] })).toEqual([]);
  });

  test("See what limits refused only where they may read all spend", async () => {
    await fixtures.sql.query(
      `insert into public.refused_spend
         (workspace_id, environment, api_key_id, day, project, period_from, made_on, amount_usd, message_count)
       select $1, environment, gen_random_uuid(), '2026-11-18', 'a', '2026-11-01', '2026-11-18', 1, 1
       from unnest(array['live', 'test']) as environment`,
      [workspace],
    );
    const seen = async (claims: Record<string, unknown>) => {
      const key = { id: "k", workspace_id: workspace, environment: "live", allow: null, deny: [], ...claims };
      const statement = "select environment from public.refused_spend";
      return (await as("outlay_key", { "request.api_key": key }, statement)).map((row) => row.environment);
    };
    expect(await seen({})).toEqual(["live"]);
    expect(await seen({ environment: "test" })).toEqual(["test"]);
    expect(await seen({ workspace_id: randomUUID() })).toEqual([]);
    for (const claims of [{ allow: ["a"] }, { deny: ["b"] }, { users: ["bo"] }])
      expect(await seen(claims)).toEqual([]);
  });

  test.each(totalsTables)(
    "See %s of other dimensions only with all projects, and of their own key always",
    async (table) => {
      const dimensions = async (claims: Record<string, unknown>) => {
        const settings = {
          "request.api_key": { id: "k", workspace_id: workspace, environment: "live", ...claims },
        };
        const rows = await as(
          "outlay_key",
          settings,
          `select distinct dimension from public.${table} order by 1`,
        );
        return rows.map(({ dimension }) => dimension);
      };
      const all = ["feature", "key", "model", "project", "provider"];
      expect(await dimensions({ allow: null, deny: [] })).toEqual(all);
      expect(await dimensions({ allow: ["a"], deny: [] })).toEqual(["project"]);
      expect(await dimensions({ allow: null, deny: ["a"] })).toEqual(["project"]);
    },
  );

  test("See nothing without claims, and no keys", async () => {
    expect(await as("outlay_key", {}, "select from public.messages")).toEqual([]);
    await expect(as("outlay_key", {}, "select from public.api_keys")).rejects.toThrow(/permission denied/);
  });
});

test("A user who is in no workspace reads no row of one, from any table", async () => {
  const workspace = await fixtures.workspace();
  const { id: keyId } = await fixtures.key(workspace);
  const member = await createMember(fixtures, workspace, "viewer");
  await fillTables(database, { workspace, memberId: member.id, keyId });
  const { rows } = await fixtures.sql.query(
    `select c.relname as name from pg_class as c join pg_attribute as a on a.attrelid = c.oid and a.attname = 'workspace_id'
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
       and has_table_privilege('authenticated', c.oid, 'select') order by 1`,
  );
  const readable = async (user: typeof member) => {
    const found: string[] = [];
    for (const { name } of rows) {
      const seen = await as(
        "authenticated",
        { "request.jwt.claims": claimsOf(user) },
        `select from public.${name} where workspace_id = '${workspace}' limit 1`,
      );
      if (seen.length > 0) found.push(name);
    }
    return found;
  };
  expect(await readable(member)).toEqual(
    expect.arrayContaining(["daily_totals", "monthly_totals", "projects"]),
  );
  expect(await readable(await createUser(fixtures))).toEqual([]);
});
