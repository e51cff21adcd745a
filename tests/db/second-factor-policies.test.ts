import { randomUUID } from "node:crypto";
import type pg from "pg";
import { beforeEach, describe, expect, test } from "vitest";
import type { Fixtures } from "@/tests/helpers/keys";
import { createMember, refusalOf, runAs } from "@/tests/helpers/sql-user";
import { withDatabase } from "@/tests/helpers/with-database";

// What the database itself allows a session with or without a proved second factor, for PostgREST and for mistakes of
// the service.

let fixtures: Fixtures;
let service: pg.Client;
withDatabase((open) => {
  ({ fixtures, service } = open);
});

let workspace: string;
let owner: string;
let member: string;

const addPerson = async (role: string) => (await createMember(fixtures, workspace, role)).id;

const addFactor = (userId: string, status: "verified" | "unverified", type = "totp") =>
  fixtures.sql.query(
    `insert into auth.mfa_factors (id, user_id, factor_type, status, created_at, updated_at)
     values (gen_random_uuid(), $1, $2::auth.factor_type, $3::auth.factor_status, now(), now())`,
    [userId, type, status],
  );
const requireMfa = () =>
  fixtures.sql.query("update public.workspaces set require_mfa = true where id = $1", [workspace]);

/**
 * Runs a statement as a user with a token of a level, and rolls it back. @returns the number of rows, or the refusal
 */
async function as(userId: string, aal: string | null, sql: string, values: unknown[] = []): Promise<unknown> {
  const claims = { sub: userId, ...(aal !== null && { aal }) };
  try {
    return (await runAs(service, claims, "rollback", sql, values)).rowCount;
  } catch (error) {
    return refusalOf(error);
  }
}

/** The key that a user records under by hand, as the service asks for it in their name; null where there is none. */
async function memberKey(userId: string, aal: string | null): Promise<unknown> {
  await service.query("begin");
  try {
    await service.query("select set_config('request.jwt.claims', $1, true)", [
      JSON.stringify({ sub: userId, role: "authenticated", ...(aal !== null && { aal }) }),
    ]);
    return (await service.query("select private.member_key($1, 'live') as id", [workspace])).rows[0].id;
  } finally {
    await service.query("rollback");
  }
}

/** How many rows a user sees of every table that holds something of a workspace. */
async function seenOf(userId: string, aal: string | null): Promise<Record<string, unknown>> {
  const { rows } = await fixtures.sql.query(
    `select c.relname as name, a.attname as field
     from pg_class as c join pg_attribute as a on a.attrelid = c.oid
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
       and (a.attname = 'workspace_id' or (c.relname = 'workspaces' and a.attname = 'id'))
       and has_table_privilege('authenticated', c.oid, 'select')`,
  );
  const seen: Record<string, unknown> = {};
  for (const { name, field } of rows)
    seen[name] = await as(userId, aal, `select from public.${name} where ${field} = $1`, [workspace]);
  return seen;
}
const nothing = (seen: Record<string, unknown>) => Object.values(seen).every((count) => count === 0);

beforeEach(async () => {
  workspace = await fixtures.workspace();
  owner = await addPerson("owner");
  member = await addPerson("member");
  await fixtures.key(workspace);
});

describe("A user with a verified factor", () => {
  test.each(["totp", "phone", "webauthn"])(
    "(%s) sees nothing of a workspace before proving it",
    async (type) => {
      await addFactor(owner, "verified", type);
      expect(await seenOf(owner, "aal2")).toMatchObject({ workspaces: 1, workspace_members: 2, api_keys: 1 });
      for (const aal of ["aal1", null, "", "AAL2", "aal22"])
        expect(nothing(await seenOf(owner, aal))).toBe(true);
    },
  );

  test("Changes no workspace, membership or profile before proving it", async () => {
    const acts: [string, unknown[]?][] = [
      ["update public.workspaces set name = 'x'"],
      ["update public.profiles set display_name = 'x'"],
      ["delete from public.workspace_members"],
      ["insert into public.workspaces (slug, name) values ($1, 'New')", [`w-${randomUUID()}`]],
    ];
    const counts = async (aal: string) => {
      const results: unknown[] = [];
      for (const act of acts) results.push(await as(owner, aal, ...act));
      return results;
    };
    const before = await counts("aal1");
    expect(before).toEqual([2, 1, "workspace_members_keep_an_owner", 1]);
    await addFactor(owner, "verified");
    expect(await counts("aal1")).toEqual([0, 0, 0, "row-level security"]);
    expect(await counts("aal2")).toEqual(before);
  });

  test("Gets no key to record under before proving it", async () => {
    expect(await memberKey(member, "aal1")).toMatch(/^[0-9a-f-]{36}$/);
    await addFactor(member, "verified");
    expect(await memberKey(member, "aal1")).toBeNull();
    expect(await memberKey(member, null)).toBeNull();
    expect(await memberKey(member, "aal2")).toMatch(/^[0-9a-f-]{36}$/);
  });

  test("Is not blocked by an unverified factor or another user's", async () => {
    await addFactor(owner, "unverified");
    await addFactor(member, "verified");
    expect(await seenOf(owner, "aal1")).toMatchObject({ workspaces: 1, workspace_members: 2 });
  });
});

describe("A workspace that requires a second factor", () => {
  test("Is visible only to sessions that proved one", async () => {
    await requireMfa();
    expect(await seenOf(member, "aal2")).toMatchObject({ workspaces: 1, workspace_members: 2, api_keys: 1 });
    expect(nothing(await seenOf(member, "aal1"))).toBe(true);
    expect(nothing(await seenOf(member, null))).toBe(true);
    expect(await memberKey(member, "aal1")).toBeNull();
    expect(await memberKey(member, "aal2")).not.toBeNull();
  });

  test("Does not affect the user's other workspaces", async () => {
    await requireMfa();
    const own = "select from public.workspaces where type = 'personal'";
    expect(await as(member, "aal1", own)).toBe(1);
  });

  test("Is made one only by an admin whose session proved a factor", async () => {
    const on = "update public.workspaces set require_mfa = true where id = $1";
    expect(await as(owner, "aal1", on, [workspace])).toBe("workspaces_require_mfa_is_proved");
    expect(await as(owner, "aal2", on, [workspace])).toBe(1);
    expect(await as(member, "aal2", on, [workspace])).toBe(0);
    await requireMfa();
    const off = "update public.workspaces set require_mfa = false where id = $1";
    expect(await as(owner, "aal1", off, [workspace])).toBe(0);
    expect(await as(owner, "aal2", off, [workspace])).toBe(1);
  });
});

test("Hides from users and keys who has a second factor and which workspaces are locked", async () => {
  for (const call of ["private.has_verified_factor($1)", "private.audit_account($1, '', '', '')"])
    expect(await as(member, "aal2", `select ${call}`, [owner])).toBe("permission denied");
  expect(await as(member, "aal1", "select * from private.locked_workspaces()")).toBe("permission denied");
  expect(await as(member, "aal2", "select * from auth.mfa_factors")).toBe("permission denied");
});
