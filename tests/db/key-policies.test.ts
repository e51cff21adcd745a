import type pg from "pg";
import { beforeAll, describe, expect, test } from "vitest";
import { keyPermissions, keyPermissionsOf, permissionsOf } from "@/lib/contract/access/permissions";
import { insertStatement } from "@/tests/helpers/insert-statement";
import type { Fixtures } from "@/tests/helpers/keys";
import { createMember, createMembers, runAs } from "@/tests/helpers/sql-user";
import { withDatabase } from "@/tests/helpers/with-database";

// What users can do to keys by SQL: on a hosted project, PostgREST runs it without our service.

const roles = ["owner", "admin", "member", "viewer"] as const;
type Who = (typeof roles)[number] | "colleague" | "stranger";

let fixtures: Fixtures;
let service: pg.Client;
let workspace: string;
let other: string;
let users: Record<Who, string>;

withDatabase((open) => {
  ({ fixtures, service } = open);
});

beforeAll(async () => {
  workspace = await fixtures.workspace();
  other = await fixtures.workspace();
  users = {
    ...(await createMembers(fixtures, workspace, other)),
    colleague: (await createMember(fixtures, workspace, "member")).id,
  };
});

const as = async (who: Who, sql: string, values: unknown[] = []) =>
  (await runAs(service, { sub: users[who] }, "commit", sql, values)).rows;

const insertKey = (columns: Record<string, unknown> = {}) =>
  insertStatement("public.api_keys", {
    workspace_id: workspace,
    name: "Mine",
    permissions: ["log_usage"],
    ...columns,
  });
const keyOf = async (who: Who) => {
  const { id } = await fixtures.key(workspace);
  await fixtures.sql.query("update public.api_keys set created_by = $2 where id = $1", [id, users[who]]);
  return id;
};
const read = async (id: string) =>
  (await fixtures.sql.query("select * from public.api_keys where id = $1", [id])).rows[0];

describe("A key inserted by SQL", () => {
  test.each(["owner", "admin", "member"] as const)(
    "By the %s belongs to them and has no secret",
    async (who) => {
      const [made] = await as(who, ...insertKey());
      const row = await read(String(made?.id));
      expect(row).toMatchObject({ created_by: users[who], kind: "key", prefix: "", last_used_at: null });
      const { rows } = await fixtures.sql.query("select from private.api_key_secrets where api_key_id = $1", [
        made?.id,
      ]);
      expect(rows).toEqual([]);
    },
  );

  test.each(["viewer", "stranger"] as const)("By the %s is refused", async (who) => {
    await expect(as(who, ...insertKey())).rejects.toThrow(/row-level security/);
  });

  test.each([
    ["id", crypto.randomUUID()],
    ["kind", "member"],
    ["prefix", "svc_live_AAAA"],
    ["last_four", "AAAA"],
    ["created_by", crypto.randomUUID()],
    ["created_at", "2020-01-01"],
    ["last_used_at", "2020-01-01"],
    ["revoked_at", "2020-01-01"],
    ["rotated_at", "2020-01-01"],
  ])("Cannot set %s", async (column, value) => {
    await expect(as("owner", ...insertKey({ [column]: value }))).rejects.toThrow(/permission denied/);
  });

  test.each([
    ["conditions", '{"project_slugs": "checkout"}'],
    ["conditions", '{"project_slugs": [1]}'],
    ["conditions", '{"sources": ["fax"]}'],
    ["conditions", '{"projects": ["checkout"]}'],
    ["conditions", "[]"],
    ["allowed_cidrs", ["nonsense"]],
    ["allowed_cidrs", [null]],
    ["monthly_limit", "NaN"],
    ["monthly_limit", "Infinity"],
    ["monthly_limit", "-1"],
    ["expires_at", "infinity"],
    ["expires_at", "-infinity"],
    ["rate_limit_rpm", 0],
  ])("Is refused with %s that the guard could not read: %j", async (column, value) => {
    await expect(as("owner", ...insertKey({ [column]: value }))).rejects.toThrow(/check constraint|cannot/);
  });

  test("Needs a project of its own workspace and at least one permission", async () => {
    const project = await fixtures.project(other, `p-${crypto.randomUUID()}`);
    await expect(as("owner", ...insertKey({ project_id: project }))).rejects.toThrow(/foreign key/);
    await expect(as("owner", ...insertKey({ permissions: [] }))).rejects.toThrow(/row-level security/);
  });
});

describe("A key changed by SQL", () => {
  const rename = (who: Who, id: string) =>
    as(who, "update public.api_keys set name = 'Changed' where id = $1 returning id", [id]);

  test.each<[Who, number]>([
    ["member", 1],
    ["admin", 1],
    ["owner", 1],
    ["colleague", 0],
    ["viewer", 0],
    ["stranger", 0],
  ])("Of a member is changed by the %s: %i rows", async (who, rows) => {
    expect(await rename(who, await keyOf("member"))).toHaveLength(rows);
  });

  test("Is refused to a maker who became a viewer", async () => {
    expect(await rename("viewer", await keyOf("viewer"))).toEqual([]);
  });

  test.each([
    "id",
    "workspace_id",
    "kind",
    "prefix",
    "last_four",
    "environment",
    "created_by",
    "last_used_at",
    "rotated_at",
  ])("Keeps its %s", async (column) => {
    await expect(as("owner", `update public.api_keys set ${column} = ${column}`)).rejects.toThrow(
      /permission denied/,
    );
  });

  test("Is revoked at the current time, whatever the statement says, and for good", async () => {
    const id = await keyOf("member");
    const revoke = "update public.api_keys set revoked_at = '2020-01-01' where id = $1 returning id";
    expect(await as("member", revoke, [id])).toHaveLength(1);
    expect(Date.now() - (await read(id)).revoked_at.getTime()).toBeLessThan(60_000);
    for (const who of ["member", "admin", "owner"] as const) {
      expect(
        await as(who, "update public.api_keys set revoked_at = null where id = $1 returning id", [id]),
      ).toEqual([]);
      expect(await rename(who, id)).toEqual([]);
    }
    expect((await read(id)).revoked_at).not.toBeNull();
  });

  test("Can be deleted by nobody", async () => {
    await expect(as("owner", "delete from public.api_keys")).rejects.toThrow(/permission denied/);
  });

  test("Of another kind cannot be changed", async () => {
    for (const kind of ["connection", "member", "environment"]) {
      const id = await keyOf("owner");
      await fixtures.sql.query("update public.api_keys set kind = $2 where id = $1", [id, kind]);
      expect(await rename("owner", id)).toEqual([]);
    }
  });
});

describe("A key's permissions", () => {
  test("Follow the same table in the service and in the policies", async () => {
    for (const role of roles) {
      const { rows: table } = await fixtures.sql.query("select private.permissions_of_role($1) as held", [
        role,
      ]);
      expect([role, table[0].held]).toEqual([role, permissionsOf(role)]);
      const { rows } = await fixtures.sql.query(
        `select set_config('request.jwt.claims', $2, false), private.held_permissions($1) as held`,
        [workspace, JSON.stringify({ sub: users[role] })],
      );
      expect([role, rows[0].held]).toEqual([role, keyPermissionsOf(role)]);
    }
  });

  test("Cannot exceed the role of the member who makes or edits the key", async () => {
    const id = await keyOf("member");
    // Gives members the permissions of viewers for this test: it tests the policies, which read the same table, and
    // not today's roles.
    await fixtures.sql.query(`
      create or replace function private.permissions_of_role(role text) returns text[]
      language sql immutable set search_path = '' as $$ select array['read_summaries'] $$`);
    await expect(as("member", ...insertKey({ permissions: [...keyPermissions] }))).rejects.toThrow(
      /row-level security/,
    );
    const widen = "update public.api_keys set permissions = $2 where id = $1";
    await expect(as("member", widen, [id, [...keyPermissions]])).rejects.toThrow(/row-level security/);
    await as("member", widen, [id, ["read_summaries"]]);
    expect((await read(id)).permissions).toEqual(["read_summaries"]);
  });
});

describe("A key's secret", () => {
  const give = (id: string, hash = "ab".repeat(32)) =>
    service.query("select private.give_key_secret($1, $2, 'svc_live_AAAA', 'AAAA')", [id, hash]);

  test("Is written by the service only", async () => {
    const id = await keyOf("member");
    const call = "select private.give_key_secret($1, repeat('ab', 32), 'p', 'four')";
    await expect(as("owner", call, [id])).rejects.toThrow(/permission denied/);
    await expect(as("owner", "select private.note_key_use(array[$1]::uuid[])", [id])).rejects.toThrow(
      /permission denied/,
    );
  });

  test("Is refused to a revoked key and to other kinds of key", async () => {
    const [revoked, connection] = [await keyOf("member"), await keyOf("member")];
    await fixtures.sql.query("update public.api_keys set revoked_at = now() where id = $1", [revoked]);
    await fixtures.sql.query("update public.api_keys set kind = 'connection' where id = $1", [connection]);
    for (const id of [revoked, connection, crypto.randomUUID()]) {
      await expect(give(id)).rejects.toThrow(/takes no secret/);
    }
  });

  test("Is dated at least a millisecond after the one it replaces", async () => {
    const id = await keyOf("member");
    const ahead = "2127-01-01T00:00:00.000Z";
    await fixtures.sql.query("update public.api_keys set rotated_at = $2 where id = $1", [id, ahead]);
    await give(id);
    expect((await read(id)).rotated_at.getTime()).toBe(Date.parse(ahead) + 1);
  });
});

test("Has its use recorded once a minute, over all processes", async () => {
  const id = await keyOf("member");
  const note = () => service.query("select private.note_key_use(array[$1]::uuid[])", [id]);
  await note();
  const first = (await read(id)).last_used_at;
  await note();
  expect((await read(id)).last_used_at).toEqual(first);
  await fixtures.sql.query(
    "update public.api_keys set last_used_at = now() - interval '61 s' where id = $1",
    [id],
  );
  await note();
  expect((await read(id)).last_used_at.getTime()).toBeGreaterThanOrEqual(first.getTime());
});
