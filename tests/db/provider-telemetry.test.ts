import type pg from "pg";
import { beforeAll, beforeEach, expect, test } from "vitest";
import type { Fixtures } from "@/tests/helpers/keys";
import { actAs, createMembers } from "@/tests/helpers/sql-user";
import { withDatabase } from "@/tests/helpers/with-database";

// What the database itself keeps to about the telemetry of providers, whoever asks and however.

let fixtures: Fixtures;
let service: pg.Client;
let workspace: string;
let users: Awaited<ReturnType<typeof createMembers>>;
const account = "00000000-0000-4000-8000-00000000001b";
const registration = "00000000-0000-4000-8000-00000000001c";
let key: string;

withDatabase((open) => {
  ({ fixtures, service } = open);
});
beforeAll(async () => {
  workspace = await fixtures.workspace();
  users = await createMembers(fixtures, workspace, await fixtures.workspace());
});
beforeEach(async () => {
  await fixtures.sql.query("delete from public.provider_accounts where workspace_id = $1", [workspace]);
  await fixtures.sql.query(
    "insert into public.provider_accounts (workspace_id, id, provider, account, since) values ($1, $2, 'anthropic', '', '2026-10-01')",
    [workspace, account],
  );
  key = (await fixtures.key(workspace)).id;
});

const refused = "42501";

/** Runs a statement as a user, or as the service with the claims of a user. @returns its rows, or the state of its error */
async function as(who: keyof typeof users, text: string, values: unknown[], role = "service") {
  await service.query("begin");
  try {
    await actAs(service, { sub: users[who] });
    if (role === "service") await service.query("select set_config('role', 'none', true)");
    const { rows } = await service.query(text, values);
    await service.query("commit");
    return rows;
  } catch (error) {
    await service.query("rollback");
    return (error as { code: string }).code;
  }
}
const begin = "select private.begin_provider_telemetry($1, $2) as outcome";
const given = (id = registration) => JSON.stringify({ id, account_id: account, key_id: key });
const note = (state: string) =>
  service.query("select private.note_provider_telemetry($1)", [
    JSON.stringify({ workspace_id: workspace, id: registration, state, problem: "why" }),
  ]);
const isRevoked = async () =>
  (
    await fixtures.sql.query("select revoked_at is not null as revoked from public.api_keys where id = $1", [
      key,
    ])
  ).rows[0]?.revoked;

test("Begins and ends for admins alone, however the service is asked", async () => {
  for (const who of ["member", "viewer", "stranger"] as const) {
    expect(await as(who, begin, [workspace, given()])).toBe(refused);
    expect(await as(who, "select private.end_provider_telemetry($1, $2)", [workspace, account])).toBe(
      refused,
    );
  }
  for (const text of [begin, "select private.note_provider_telemetry($2) where $1::uuid is not null"])
    expect(await as("admin", text, [workspace, given()], "authenticated")).toBe(refused);
  expect(await as("admin", begin, [workspace, given()])).toEqual([{ outcome: "begun" }]);
  expect(await as("owner", begin, [workspace, given()])).toEqual([{ outcome: "taken" }]);
});

test("Is read by admins alone, written by no user, and read by no key", async () => {
  await as("admin", begin, [workspace, given()]);
  const read = "select id, destinations from public.provider_telemetry where workspace_id = $1";
  for (const [who, count] of [
    ["owner", 1],
    ["admin", 1],
    ["member", 0],
    ["viewer", 0],
    ["stranger", 0],
  ] as const)
    expect(await as(who, read, [workspace], "authenticated"), who).toHaveLength(count);
  for (const text of [
    "update public.provider_telemetry set state = 'registered'",
    "delete from public.provider_telemetry",
    "insert into public.provider_telemetry (workspace_id) values (gen_random_uuid())",
  ])
    expect(await as("owner", text, [], "authenticated"), text).toBe(refused);
  await service.query("begin");
  await service.query("set local role outlay_key");
  await expect(service.query("select id from public.provider_telemetry")).rejects.toMatchObject({
    code: refused,
  });
  await service.query("rollback");
});

test.each([
  ["the provider refuses", () => note("refused")],
  ["how it ended is not known", () => note("failed")],
  ["it ends", () => as("admin", "select private.end_provider_telemetry($1, $2)", [workspace, account])],
  [
    "its account is removed",
    () => as("admin", "select private.remove_provider_account($1, $2, false)", [workspace, account]),
  ],
])("The key is revoked when %s", async (_, end) => {
  await as("admin", begin, [workspace, given()]);
  expect(await isRevoked()).toBe(false);
  await end();
  expect(await isRevoked()).toBe(true);
});

test("The key stays where the provider cannot deliver, or has disabled it", async () => {
  await as("admin", begin, [workspace, given()]);
  for (const state of ["registered", "failing", "disabled", "gone"]) await note(state);
  expect(await isRevoked()).toBe(false);
});

test("One that was refused gives way to another, one that is there does not, and notes about the former are ignored", async () => {
  await as("admin", begin, [workspace, given()]);
  await note("refused");
  const former = key;
  key = (await fixtures.key(workspace)).id;
  const next = "00000000-0000-4000-8000-00000000001d";
  expect(await as("admin", begin, [workspace, given(next)])).toEqual([{ outcome: "begun" }]);
  expect(key).not.toBe(former);
  await note("registered");
  const { rows } = await fixtures.sql.query(
    "select id, state from public.provider_telemetry where account_id = $1",
    [account],
  );
  expect(rows).toEqual([{ id: next, state: "registering" }]);
  expect(await isRevoked()).toBe(false);
});
