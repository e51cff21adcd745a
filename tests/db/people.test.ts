import { randomUUID } from "node:crypto";
import type pg from "pg";
import { beforeEach, describe, expect, test } from "vitest";
import type { Fixtures } from "@/tests/helpers/keys";
import { addToWorkspace, createUser, refusalOf, runAs } from "@/tests/helpers/sql-user";
import { withDatabase } from "@/tests/helpers/with-database";

// What users can do to members, invitations and profiles by SQL: on hosted Supabase, PostgREST runs it without our
// service. Every statement runs as `authenticated`, with a user's claims.

let fixtures: Fixtures;
let service: pg.Client;

withDatabase((open) => {
  ({ fixtures, service } = open);
});

type Role = "owner" | "admin" | "member" | "viewer";
const roles: Role[] = ["owner", "admin", "member", "viewer"];
let workspace: string;
let people: Record<Role | "stranger" | "other", string>;

async function addPerson(role?: Role): Promise<string> {
  const { id } = await createUser(fixtures);
  if (role) await addToWorkspace(fixtures, workspace, id, role);
  return id;
}

beforeEach(async () => {
  workspace = await fixtures.workspace();
  people = {
    owner: await addPerson("owner"),
    admin: await addPerson("admin"),
    member: await addPerson("member"),
    viewer: await addPerson("viewer"),
    other: await addPerson("member"),
    stranger: await addPerson(),
  };
});

/** Runs a statement as a user in a transaction of its own. @returns how many rows it touched, or why it was refused */
async function as(who: keyof typeof people, sql: string, values: unknown[] = []): Promise<number | string> {
  try {
    return (await runAs(service, { sub: people[who] }, "commit", sql, values)).rowCount ?? 0;
  } catch (error) {
    return refusalOf(error);
  }
}

const setRole = (who: keyof typeof people, whose: keyof typeof people, role: Role) =>
  as(who, "update public.workspace_members set role = $3 where workspace_id = $1 and user_id = $2", [
    workspace,
    people[whose],
    role,
  ]);
const remove = (who: keyof typeof people, whose: keyof typeof people) =>
  as(who, "delete from public.workspace_members where workspace_id = $1 and user_id = $2", [
    workspace,
    people[whose],
  ]);

describe("Memberships", () => {
  test.each<[keyof typeof people, keyof typeof people, Role, number | string]>([
    ["owner", "viewer", "owner", 1],
    ["owner", "admin", "viewer", 1],
    ["admin", "viewer", "admin", 1],
    ["admin", "admin", "member", 1],
    ["admin", "viewer", "owner", "row-level security"],
    ["admin", "admin", "owner", "row-level security"],
    ["admin", "owner", "viewer", 0],
    ["member", "member", "admin", 0],
    ["member", "viewer", "member", 0],
    ["viewer", "viewer", "member", 0],
    ["stranger", "viewer", "member", 0],
    ["owner", "owner", "admin", "workspace_members_keep_an_owner"],
  ])("%s makes %s %s: %s", async (who, whose, role, outcome) => {
    expect(await setRole(who, whose, role)).toBe(outcome);
  });

  test.each<[keyof typeof people, keyof typeof people, number | string]>([
    ["owner", "admin", 1],
    ["admin", "viewer", 1],
    ["admin", "owner", 0],
    ["member", "viewer", 0],
    ["member", "member", 1],
    ["viewer", "viewer", 1],
    ["stranger", "viewer", 0],
    ["owner", "owner", "workspace_members_keep_an_owner"],
  ])("%s removes %s: %s", async (who, whose, outcome) => {
    expect(await remove(who, whose)).toBe(outcome);
  });

  test("Cannot be created, moved, or left without owners in one statement", async () => {
    const insert =
      "insert into public.workspace_members (workspace_id, user_id, role) values ($1, $2, 'admin')";
    for (const who of ["owner", "stranger"] as const)
      expect(await as(who, insert, [workspace, people.stranger])).toBe("permission denied");
    for (const column of ["workspace_id", "user_id", "created_at"])
      expect(await as("owner", `update public.workspace_members set ${column} = ${column}`)).toBe(
        "permission denied",
      );
    await setRole("owner", "admin", "owner");
    for (const all of [
      "update public.workspace_members set role = 'viewer'",
      "delete from public.workspace_members",
    ])
      expect(await as("owner", `${all} where workspace_id = $1`, [workspace])).toBe(
        "workspace_members_keep_an_owner",
      );
  });

  test("End with the account, even the last owner's, and with the workspace", async () => {
    await fixtures.sql.query("delete from public.profiles where id = $1", [people.owner]);
    await fixtures.sql.query("delete from public.workspaces where id = $1", [workspace]);
    const { rows } = await fixtures.sql.query(
      "select from public.workspace_members where workspace_id = $1",
      [workspace],
    );
    expect(rows).toEqual([]);
  });
});

describe("Workspaces", () => {
  const insert = (columns: string, values: string) =>
    `insert into public.workspaces (${columns}) values (${values})`;

  test("Are created as teams only, and owned by their creator", async () => {
    const slug = `w-${randomUUID()}`;
    expect(await as("stranger", insert("slug, name", "$1, 'Mine'"), [slug])).toBe(1);
    const { rows } = await fixtures.sql.query(
      "select user_id, role from public.workspace_members join public.workspaces on id = workspace_id where slug = $1",
      [slug],
    );
    expect(rows).toEqual([{ user_id: people.stranger, role: "owner" }]);
    expect(await as("stranger", insert("slug, name, type", "$1, 'x', 'demo'"), [`${slug}2`])).toBe(
      "permission denied",
    );
    expect(await as("stranger", insert("slug, name", "'settings', 'x'"))).toBe(
      "workspaces_slug_not_reserved",
    );
  });

  test.each<[keyof typeof people, number]>([
    ["owner", 1],
    ["admin", 1],
    ["member", 0],
    ["viewer", 0],
    ["stranger", 0],
  ])("Are renamed by %s: %s", async (who, outcome) => {
    expect(await as(who, "update public.workspaces set name = 'x' where id = $1", [workspace])).toBe(outcome);
  });

  test("Keep slug, type and counters, and cannot be deleted", async () => {
    for (const column of ["slug", "type", "prices_version", "id"])
      expect(await as("owner", `update public.workspaces set ${column} = ${column}`)).toBe(
        "permission denied",
      );
    expect(await as("owner", "delete from public.workspaces")).toBe("permission denied");
  });
});

describe("Invitations", () => {
  const invite = (who: keyof typeof people, role = "viewer", days = 7) =>
    as(
      who,
      "insert into public.invitations (workspace_id, role, expires_at) values ($1, $2, now() + $3 * interval '1 day')",
      [workspace, role, days],
    );

  test("Are made by admins in their own name, below owner, for at most thirty days", async () => {
    expect(await invite("owner")).toBe(1);
    expect(await invite("admin", "admin", 30)).toBe(1);
    for (const who of ["member", "viewer", "stranger"] as const)
      expect(await invite(who)).toBe("row-level security");
    const inAnothersName =
      "insert into public.invitations (workspace_id, role, invited_by, expires_at) values ($1, 'viewer', $2, now())";
    expect(await as("admin", inAnothersName, [workspace, people.owner])).toBe("permission denied");
    expect(await invite("owner", "owner")).toBe("invitations_role_check");
    expect(await invite("owner", "viewer", 31)).toBe("invitations_check");
  });

  test("Are read and revoked by admins only, and changed by nobody", async () => {
    await invite("admin");
    for (const who of ["member", "viewer", "stranger"] as const) {
      expect(await as(who, "select from public.invitations")).toBe(0);
      expect(await as(who, "delete from public.invitations")).toBe(0);
    }
    for (const column of ["role", "expires_at", "accepted_at", "email"])
      expect(await as("owner", `update public.invitations set ${column} = ${column}`)).toBe(
        "permission denied",
      );
    expect(await as("owner", "delete from public.invitations where workspace_id = $1", [workspace])).toBe(1);
  });

  test("Are accepted, read by token and given a secret by the service only", async () => {
    for (const call of [
      "accept_invitation('00')",
      "read_invitation('00')",
      "keep_invitation_secret(gen_random_uuid(), '00')",
    ])
      expect(await as("owner", `select private.${call}`)).toBe("permission denied");
    expect(await as("owner", "select from private.invitation_secrets")).toBe("permission denied");
  });
});

describe("Projects", () => {
  test.each<[keyof typeof people, number]>([
    ["owner", 1],
    ["admin", 1],
    ["member", 1],
    ["viewer", 0],
    ["stranger", 0],
  ])("Are renamed and archived by %s: %s", async (who, outcome) => {
    await fixtures.project(workspace, "shop");
    const sql = "update public.projects set name = 'x', archived_at = now() where workspace_id = $1";
    expect(await as(who, sql, [workspace])).toBe(outcome);
  });

  test("Keep their slug and workspace", async () => {
    for (const column of ["slug", "workspace_id", "id", "created_at"])
      expect(await as("owner", `update public.projects set ${column} = ${column}`)).toBe("permission denied");
  });
});

describe("Profiles", () => {
  const edit = (who: keyof typeof people, whose: keyof typeof people, set: string) =>
    as(who, `update public.profiles set ${set} where id = $1`, [people[whose]]);

  test("Are edited by their user, not by an admin of a workspace", async () => {
    expect(await edit("viewer", "viewer", "display_name = 'Ada'")).toBe(1);
    expect(await edit("owner", "viewer", "display_name = 'Eve'")).toBe(0);
  });

  test("Keep their address, and refuse pictures of this service and others' workspaces", async () => {
    expect(await edit("viewer", "viewer", "email = 'root@example.com'")).toBe("permission denied");
    expect(await edit("viewer", "viewer", "avatar_url = '/api/v1/me'")).toBe("profiles_avatar_url_is_https");
    expect(await edit("viewer", "viewer", `default_workspace_id = '${workspace}'`)).toBe(1);
    expect(await edit("stranger", "stranger", `default_workspace_id = '${workspace}'`)).toBe(
      "row-level security",
    );
  });
});

describe("The audit log", () => {
  test("Is read by admins only and written by nobody", async () => {
    await setRole("owner", "viewer", "member");
    const read = (who: keyof typeof people) =>
      as(who, "select from public.audit_log where workspace_id = $1 and actor_id is not null", [workspace]);
    expect(await read("owner")).toBe(1);
    expect(await read("admin")).toBe(1);
    for (const who of ["member", "viewer", "other", "stranger"] as const) expect(await read(who)).toBe(0);
    for (const sql of [
      "delete from public.audit_log",
      "update public.audit_log set action = 'x'",
      `insert into public.audit_log (workspace_id, action, subject) values ('${workspace}', 'x', 'x')`,
    ])
      for (const who of roles) expect(await as(who, sql), `${who}: ${sql}`).toBe("permission denied");
  });
});
