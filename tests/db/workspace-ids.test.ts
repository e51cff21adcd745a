import pg from "pg";
import { beforeAll, describe, expect, test } from "vitest";
import { demoWorkspaceId, environmentKeyId } from "@/lib/keys/environment-key";
import type { TestDatabase } from "@/tests/helpers/database";
import type { Fixtures } from "@/tests/helpers/keys";
import { createUser } from "@/tests/helpers/sql-user";
import { withDatabase } from "@/tests/helpers/with-database";

// A ledger is found by its workspace's id and outlives the workspace, so no other workspace may get that id.

let database: TestDatabase;
let fixtures: Fixtures;
let service: pg.Client;

withDatabase((open) => {
  ({ database, fixtures, service } = open);
});

const projectId = crypto.randomUUID();

async function record(workspaceId: string): Promise<void> {
  await fixtures.sql.query("select private.ensure_messages_month('2026-11-01')");
  await fixtures.sql.query("select private.store_messages($1, $2, '[]')", [
    JSON.stringify([{ workspace_id: workspaceId, id: projectId, slug: "secret", name: "secret" }]),
    JSON.stringify([
      {
        workspace_id: workspaceId,
        id: crypto.randomUUID(),
        occurred_at: "2026-11-05T00:00:00Z",
        created_at: "2026-11-05T00:00:00Z",
        project_id: projectId,
        api_key_id: crypto.randomUUID(),
        type: "usage",
        source: "api",
        environment: "live",
        provider: "openai",
        amount_usd: "1",
        cost_status: "client",
      },
    ]),
  ]);
}

const signUp = async () => (await createUser(fixtures)).id;

/** Runs a statement as PostgREST would for a user, or as a key's transaction, and rolls it back. */
async function as(settings: Record<string, unknown>, sql: string): Promise<Record<string, unknown>[]> {
  await service.query("begin");
  try {
    for (const [name, value] of Object.entries(settings))
      await service.query("select set_config($1, $2, true)", [
        name,
        typeof value === "string" ? value : JSON.stringify(value),
      ]);
    return (await service.query(sql)).rows;
  } finally {
    await service.query("rollback");
  }
}
const user = (id: string) => ({
  role: "authenticated",
  "request.jwt.claims": { sub: id, role: "authenticated" },
});
const key = (workspaceId: string) => ({
  role: "outlay_key",
  "request.api_key": { id: "k", workspace_id: workspaceId, environment: "live", allow: null, deny: [] },
});

const ledger = ["messages", "daily_spend", "daily_totals", "key_spend"];
/** How many rows of each table of the ledger a caller can read. */
async function counts(settings: Record<string, unknown>, workspaceId: string, tables = ledger) {
  const found: Record<string, number> = {};
  for (const table of tables) {
    const rows = await as(settings, `select from public.${table} where workspace_id = '${workspaceId}'`);
    found[table] = rows.length;
  }
  return found;
}

describe("A user's own SQL", () => {
  test("Creates a workspace without choosing its id, and cannot choose one", async () => {
    const id = await signUp();
    await as(user(id), "insert into public.workspaces (slug, name) values ('mine', 'Mine')");
    for (const chosen of [demoWorkspaceId, crypto.randomUUID()]) {
      await expect(
        as(user(id), `insert into public.workspaces (id, slug, name) values ('${chosen}', 'mine', 'Mine')`),
      ).rejects.toThrow(/permission denied/);
    }
  });
});

describe("The ids fixed in the source", () => {
  test("Are reserved for the demo workspace and the environment key", async () => {
    const workspace = await fixtures.workspace();
    const insertWorkspace = "insert into public.workspaces (id, slug, name) values ($1, 'x', 'X')";
    await expect(fixtures.sql.query(insertWorkspace, [demoWorkspaceId])).rejects.toMatchObject({
      constraint: "workspaces_id_demo_is_the_demo",
    });
    const insertKey = `insert into public.api_keys (workspace_id, id, kind, name, permissions) values ($1, $2, $3, 'X', '{}')`;
    for (const kind of ["key", "environment"])
      await expect(fixtures.sql.query(insertKey, [workspace, environmentKeyId, kind])).rejects.toMatchObject({
        constraint: "api_keys_id_environment_is_reserved",
      });
  });

  test("Are free for the demo again after its deletion, which deletes its ledger", async () => {
    const admission = JSON.stringify({ hashes: [], ids: [environmentKeyId], projects: [], idempotency: [] });
    const admit = async () =>
      (await fixtures.sql.query("select private.load_admission($1) as answer", [admission])).rows[0].answer
        .keys;
    expect(await admit()).toHaveLength(1);
    await record(demoWorkspaceId);
    expect((await counts(key(demoWorkspaceId), demoWorkspaceId, ["messages"])).messages).toBe(1);
    await fixtures.sql.query("delete from public.workspaces where id = $1", [demoWorkspaceId]);
    expect(await admit()).toHaveLength(1);
    for (const table of [...ledger.map((name) => `public.${name}`), "private.idempotency"]) {
      const { rowCount } = await fixtures.sql.query(`select from ${table} where workspace_id = $1`, [
        demoWorkspaceId,
      ]);
      expect(rowCount, table).toBe(0);
    }
  });
});

describe("The ledger of a deleted workspace", () => {
  let workspace: string;
  let owner: string;
  beforeAll(async () => {
    workspace = await fixtures.workspace();
    owner = await signUp();
    await fixtures.sql.query("insert into public.workspace_members values ($1, $2, 'owner')", [
      workspace,
      owner,
    ]);
    await record(workspace);
    expect(await counts(user(owner), workspace)).toMatchObject({ messages: 1, key_spend: 1 });
    await fixtures.sql.query("delete from public.workspaces where id = $1", [workspace]);
  });

  test("Stays, and nobody can read it", async () => {
    const { rowCount } = await fixtures.sql.query("select from public.messages where workspace_id = $1", [
      workspace,
    ]);
    expect(rowCount).toBe(1);
    expect(await counts(user(owner), workspace)).toEqual({
      messages: 0,
      daily_spend: 0,
      daily_totals: 0,
      key_spend: 0,
    });
  });

  test("Has an id that no workspace gets again", async () => {
    const insert = "insert into public.workspaces (id, slug, name) values ($1, 'again', 'Again')";
    await expect(fixtures.sql.query(insert, [workspace])).rejects.toMatchObject({
      constraint: "workspaces_id_is_new",
    });
    const other = await fixtures.workspace();
    await expect(
      fixtures.sql.query("update public.workspaces set id = $2 where id = $1", [other, workspace]),
    ).rejects.toMatchObject({ constraint: "workspaces_id_is_new" });
  });

  test("Stays hidden even when a workspace has its id, restored without triggers", async () => {
    const superuser = new pg.Client({ connectionString: database.superuserUrl });
    await superuser.connect();
    await superuser.query("set session_replication_role = replica");
    await superuser.query("insert into public.workspaces (id, slug, name) values ($1, 'again', 'Again')", [
      workspace,
    ]);
    await superuser.query("insert into public.workspace_members values ($1, $2, 'owner')", [
      workspace,
      owner,
    ]);
    await superuser.end();
    const none = { messages: 0, daily_spend: 0, daily_totals: 0 };
    expect(await counts(user(owner), workspace)).toEqual({ ...none, key_spend: 0 });
    expect(await counts(key(workspace), workspace, Object.keys(none))).toEqual(none);
    expect(await as(user(owner), "select slug from public.workspaces where slug = 'again'")).toHaveLength(1);
    await fixtures.sql.query("delete from public.workspaces where id = $1", [workspace]);
  });
});
