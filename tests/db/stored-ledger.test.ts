import { randomUUID } from "node:crypto";
import { copyFileSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bootstrapDatabaseAt, migrate } from "@/lib/db/migrate";
import { createEmptyDatabase, type TestDatabase } from "@/tests/helpers/database";
import { projectRoot } from "@/tests/helpers/project-root";

const migrations = join(projectRoot, "supabase/migrations");
/** The first migration that these tests are of. */
const first = "20261122040000";

let database: TestDatabase;
let client: Client;
const workspace = randomUUID();

// A ledger that was stored before those migrations, brought up to date.
beforeAll(async () => {
  database = await createEmptyDatabase();
  await bootstrapDatabaseAt(database.superuserUrl, join(projectRoot, "supabase/bootstrap"));
  const before = mkdtempSync(join(tmpdir(), "migrations-"));
  for (const file of readdirSync(migrations)) {
    if (file < first) copyFileSync(join(migrations, file), join(before, file));
  }
  await migrate(database.adminUrl, before);
  rmSync(before, { recursive: true });
  client = new Client({ connectionString: database.adminUrl });
  await client.connect();
  await client.query("insert into public.workspaces (id, slug, name) values ($1, 'stored', 'Stored')", [
    workspace,
  ]);
  await client.query(
    `insert into private.idempotency (workspace_id, key, message_id, request, response, created_at)
     select $1, key, gen_random_uuid(), jsonb_build_object('environment', environment, 'project', 'checkout'), '{"amount_usd": "1"}', now()
     from (values ('order-1', 'live'), ('order-2', 'test'), ('order-3', 'live')) as earlier (key, environment)`,
    [workspace],
  );
  await client.query(
    `insert into public.api_keys (workspace_id, name, prefix, last_four, kind, permissions)
     values ($1, 'Ada', 'member', 'none', 'member', array['log_usage', 'add_expenses', 'manage_subscriptions']),
       ($1, 'CI', 'svc_live_', 'abcd', 'key', array['log_usage'])`,
    [workspace],
  );
  await migrate(database.adminUrl, migrations);
});

afterAll(async () => {
  await client?.end();
  await database?.drop();
});

test("answers to idempotency keys are kept, each with the environment it was given in", async () => {
  const { rows } = await client.query(
    "select key, environment, request ->> 'project' as project, response from private.idempotency where workspace_id = $1 order by key",
    [workspace],
  );
  const kept = { project: "checkout", response: { amount_usd: "1" } };
  expect(rows).toEqual([
    { key: "order-1", environment: "live", ...kept },
    { key: "order-2", environment: "test", ...kept },
    { key: "order-3", environment: "live", ...kept },
  ]);
});

test("members' own keys may allocate by percent, and no other key is given more", async () => {
  const { rows } = await client.query(
    "select name, permissions from public.api_keys where workspace_id = $1 order by name",
    [workspace],
  );
  expect(rows).toEqual([
    { name: "Ada", permissions: ["log_usage", "add_expenses", "manage_subscriptions", "read_summaries"] },
    { name: "CI", permissions: ["log_usage"] },
  ]);
});
