import pg from "pg";
import { expect, test } from "vitest";
import { eraseWorkspaces } from "@/lib/access/workspaces/deletion";
import { costMessage } from "@/tests/helpers/client";
import { connectService } from "@/tests/helpers/connect-service";
import { ledgerDifferences, withHarness } from "@/tests/helpers/harness";
import { clientIn } from "@/tests/helpers/recording";
import { tablesWith } from "@/tests/helpers/tables-with";
import { makeTeam, type Team } from "@/tests/helpers/team";

const harness = withHarness();
connectService(() => harness.database);
const rows = async (text: string, values: unknown[] = []) =>
  (await harness.fixtures.sql.query(text, values)).rows;

const step = async (atMost: number) =>
  (await rows("select private.erase_workspace_step($1) as gone", [atMost]))[0].gone as number | null;

/** A value for a column that must have one, by its type. */
const values: Record<string, string> = {
  uuid: "gen_random_uuid()",
  text: "'x'",
  "text[]": "array['x']",
  bytea: "decode(md5(random()::text), 'hex')",
  jsonb: "'{}'",
  date: "'2026-11-02'",
  "timestamp with time zone": "now()",
  "time without time zone": "'09:00'",
  boolean: "false",
};

/** Adds a row of the workspace to each table that has none, past constraints and triggers, so that no table is forgotten. */
async function fillTheRest(workspace: string, memberId: string, keyId: string): Promise<void> {
  const superuser = new pg.Client({ connectionString: harness.database.superuserUrl });
  await superuser.connect();
  await superuser.query("set session_replication_role = replica");
  const { rows: tables } = await superuser.query(
    `select c.oid::regclass::text as name, (
       select json_agg(json_build_object('name', a.attname, 'type', format_type(a.atttypid, null)))
       from pg_attribute as a
       where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attnotnull and (not a.atthasdef or a.atttypid = 'uuid'::regtype)
         and a.attidentity = '' and a.attname <> 'workspace_id'
     ) as columns, (
       select json_agg(k.conname) from pg_constraint as k where k.conrelid = c.oid and k.contype = 'c'
     ) as checks
     from pg_class as c
     join pg_attribute as a on a.attrelid = c.oid and a.attname = 'workspace_id' and not a.attisdropped
     where c.relkind = 'r' and not c.relispartition and c.relnamespace in ('public'::regnamespace, 'private'::regnamespace)`,
  );
  for (const { name, columns, checks } of tables) {
    const { rows: hits } = await superuser.query(`select from ${name} where workspace_id = $1 limit 1`, [
      workspace,
    ]);
    if (hits.length > 0) continue;
    for (const check of checks ?? []) await superuser.query(`alter table ${name} drop constraint ${check}`);
    const needed: { name: string; type: string }[] = columns ?? [];
    // What refers to a member or a key goes with them.
    const known: Record<string, string> = {
      user_id: `'${memberId}'`,
      ...(name === "connections" && { id: `'${keyId}'` }),
    };
    const sampleOf = (type: string) => (type.endsWith("[]") ? "'{}'" : (values[type] ?? "0"));
    const cells = needed.map(({ name: column, type }) => known[column] ?? sampleOf(type));
    await superuser.query(
      `insert into ${name} (${["workspace_id", ...needed.map((column) => column.name)]}) values (${["$1", ...cells]})`,
      [workspace],
    );
  }
  await superuser.end();
}

/** Records messages of several months, with what is derived from them. */
async function record(team: Team) {
  const client = await clientIn(harness, team.workspace, { rate_limit_rpm: 1_000, monthly_limit: "1000" });
  const line = { model: "m", unit_type: "requests", quantity: 1, estimated_cost: 1 };
  const messages = [
    ...Array.from({ length: 40 }, (_, index) =>
      costMessage(
        { user: "ada", tags: { team: "a" }, occurred_at: `2026-0${1 + (index % 9)}-05T00:00:00Z` },
        { idempotency_key: `k${index}` },
      ),
    ),
    {
      project: "search",
      source: "api",
      message: { type: "batch", provider: "p", batch_id: "b", items: [line, line] },
    },
  ];
  const { body } = await client.call("POST", "/api/v1/messages/batch", { messages });
  expect(body).toMatchObject({ recorded: 41 });
  return client;
}

const found = (text: string) => tablesWith(harness.database, text);

test("Erases a workspace from every table in small steps, whenever one is interrupted, and nothing else", async () => {
  const [team, other] = [await makeTeam(harness), await makeTeam(harness)];
  const [client] = [await record(team), await record(other)];
  const { owner } = team.users;
  const keyId = client.id;
  await fillTheRest(team.workspace, owner.id, keyId);
  const before = await found(other.workspace);
  expect(await found(keyId)).toContain("private.rate_windows");

  expect((await owner.call("POST", `${team.path}/deletion`, { name: team.slug })).status).toBe(200);
  // Not before the thirty days are over.
  expect(await step(50)).toBeNull();
  await rows("update public.workspaces set deleted_at = now() - interval '30 days' where id = $1", [
    team.workspace,
  ]);
  const session = await harness.fixtures.sql.connect();
  let steps = 0;
  for (let gone: number | null = 1; gone !== null; steps += 1) {
    // Every third step is interrupted before its commit. Nobody records meanwhile, or undoes it.
    await session.query("begin");
    gone = (await session.query("select private.erase_workspace_step(7) as gone")).rows[0].gone;
    expect(gone ?? 0).toBeLessThanOrEqual(7);
    if (steps % 3 === 2) {
      await session.query("rollback");
      gone = 1;
    } else await session.query("commit");
    if (steps % 20 === 5) {
      expect([401, 403]).toContain((await client.post(costMessage())).status);
      expect((await owner.call("DELETE", `${team.path}/deletion`)).status).toBe(404);
    }
  }
  session.release();
  expect(steps).toBeGreaterThan(30);
  expect(await found(team.workspace)).toEqual([]);
  expect(await found(keyId)).toEqual([]);
  expect((await client.post(costMessage())).status).toBe(401);

  expect(await found(other.workspace)).toEqual(before);
  expect(await ledgerDifferences(harness.fixtures)).toEqual([]);
  // The address is free again.
  const again = await owner.call("POST", "/api/v1/workspaces", { name: "Again", slug: team.slug });
  expect(again.status).toBe(201);
});

test("The job of the service erases what is due, and leaves the rest", async () => {
  const [due, waiting] = [await makeTeam(harness), await makeTeam(harness)];
  await record(due);
  for (const team of [due, waiting])
    await team.users.owner.call("POST", `${team.path}/deletion`, { name: team.slug });
  await rows("update public.workspaces set deleted_at = now() - interval '31 days' where id = $1", [
    due.workspace,
  ]);
  expect(await eraseWorkspaces()).toBeGreaterThan(40);
  expect(await found(due.workspace)).toEqual([]);
  expect((await waiting.users.owner.call("DELETE", `${waiting.path}/deletion`)).status).toBe(200);
});
