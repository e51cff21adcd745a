import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeSchema } from "@/lib/db/describe-schema";
import { createTestDatabase, type TestDatabase } from "@/tests/helpers/database";
import { projectRoot } from "@/tests/helpers/project-root";

let database: TestDatabase;
let client: Client;

beforeAll(async () => {
  database = await createTestDatabase();
  client = new Client({ connectionString: database.superuserUrl });
  await client.connect();
});

afterAll(async () => {
  await client?.end();
  await database?.drop();
});

test("Keeps supabase/schema.sql equal to the schema of the migrations", async () => {
  const described = await describeSchema(client);
  const kept = readFileSync(join(projectRoot, "supabase/schema.sql"), "utf8");
  expect(kept, "the migrations have changed: `npm run schema` writes supabase/schema.sql anew").toBe(
    described,
  );
});

test("Changes the text with every change of the schema", async () => {
  const before = await describeSchema(client);
  for (const change of [
    "alter table public.budgets add column note text",
    "alter table public.budgets alter column name drop not null",
    "alter table public.budgets drop constraint budgets_amount_is_money",
    "alter table public.budgets disable row level security",
    "comment on column public.budgets.amount is 'USD a month'",
    "create index budgets_name_idx on public.budgets (name)",
    "grant update (scope_type) on public.budgets to authenticated",
    "grant insert on public.budgets to anon",
    'alter policy "A member reads the budgets of their workspaces" on public.budgets using (true)',
    "drop trigger budgets_are_audited on public.budgets",
    "drop trigger follow_changed_email on auth.users",
    "grant execute on function private.load_prices(uuid) to authenticated",
    "alter function private.load_prices(uuid) security invoker",
    "alter function private.load_prices(uuid) set search_path = public",
    "create function private.later() returns integer language sql as 'select 1'",
    "create table private.later ()",
    "grant usage on schema private to anon",
    "alter default privileges for role postgres grant execute on functions to public",
  ]) {
    await client.query("begin");
    await client.query(change);
    const after = await describeSchema(client);
    await client.query("rollback");
    expect(after === before, change).toBe(false);
  }
  expect(await describeSchema(client)).toBe(before);
});

test("Has no policy whose name Postgres truncated", async () => {
  const { rows } = await client.query("select polname from pg_policy where octet_length(polname) >= 63");
  expect(rows).toEqual([]);
});
