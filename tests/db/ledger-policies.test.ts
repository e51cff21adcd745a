import { randomUUID } from "node:crypto";
import type pg from "pg";
import { beforeEach, describe, expect, test } from "vitest";
import type { Fixtures } from "@/tests/helpers/keys";
import { addToWorkspace, createUser, refusalOf, runAs } from "@/tests/helpers/sql-user";
import { withDatabase } from "@/tests/helpers/with-database";

// What users can do to prices, repricings, projects and subscriptions by SQL: on hosted Supabase, PostgREST runs it
// without our service. Every statement runs as `authenticated`, with a user's claims.

let fixtures: Fixtures;
let service: pg.Client;
let workspace: string;
let project: string;
let users: Record<"admin" | "member" | "viewer", { id: string; email: string }>;

withDatabase((open) => {
  ({ fixtures, service } = open);
});

async function addUser(role: string, ...workspaces: string[]) {
  const user = await createUser(fixtures);
  for (const each of workspaces) await addToWorkspace(fixtures, each, user.id, role);
  return user;
}

let second: string;
beforeEach(async () => {
  [workspace, second] = [await fixtures.workspace(), await fixtures.workspace()];
  project = await fixtures.project(workspace, "checkout");
  users = {
    admin: await addUser("admin", workspace, second),
    member: await addUser("member", workspace),
    viewer: await addUser("viewer", workspace),
  };
});

/** Runs a statement as a user in a transaction of its own. @returns its rows, or why it was refused */
async function as(who: keyof typeof users, sql: string, values: unknown[] = []): Promise<unknown> {
  const { id, email } = users[who];
  try {
    return (await runAs(service, { sub: id, email }, "commit", sql, values)).rows;
  } catch (error) {
    return refusalOf(error);
  }
}

const insert = (table: string, columns: Record<string, unknown>) => {
  const names = Object.keys(columns);
  const places = names.map((_, index) => `$${index + 1}`).join(", ");
  return [
    `insert into public.${table} (${names.join(", ")}) values (${places}) returning 1 as done`,
    Object.values(columns),
  ] as const;
};
const done = [{ done: 1 }];

describe("A price", () => {
  const price = (columns: Record<string, unknown> = {}) =>
    insert("prices", {
      workspace_id: workspace,
      provider: "acme",
      unit_type: "requests",
      rate: "0.5",
      starts_at: "2026-01-01T00:00:00Z",
      ...columns,
    });

  test("Is inserted by admins, in their own name, with a start", async () => {
    expect(await as("admin", ...price())).toEqual(done);
    expect(await as("member", ...price())).toBe("row-level security");
    expect(await as("admin", ...price({ created_by: users.member.id }))).toBe("permission denied");
    expect(await as("admin", ...price({ id: randomUUID() }))).toBe("permission denied");
    expect(await as("admin", ...price({ created_at: "2020-01-01" }))).toBe("permission denied");
    for (const starts_at of ["infinity", "-infinity", "0044-03-15 BC", "20000-01-01"])
      expect(await as("admin", ...price({ starts_at }))).toBe("prices_starts_at_is_a_moment");
    for (const rate of ["NaN", "Infinity", "-1"])
      expect(await as("admin", ...price({ rate }))).toBe("prices_rate_check");
  });

  test("Belongs to its last author", async () => {
    const setBy = async () =>
      (await fixtures.sql.query("select created_by from public.prices where workspace_id = $1", [workspace]))
        .rows[0].created_by;
    await as("admin", ...price());
    expect(await setBy()).toBe(users.admin.id);
    const other = await addUser("owner", workspace);
    users.admin = other;
    expect(await as("admin", "update public.prices set rate = 2 returning 1 as done")).toEqual(done);
    expect(await setBy()).toBe(other.id);
  });

  test("Stays in its workspace, and every process learns of its change", async () => {
    await as("admin", ...price());
    const move = "update public.prices set workspace_id = $1 where workspace_id = $2";
    expect(await as("admin", move, [second, workspace])).toBe("permission denied");
    const version = async () =>
      (await fixtures.sql.query("select prices_version from public.workspaces where id = $1", [workspace]))
        .rows[0].prices_version;
    const before = await version();
    const change = "update public.prices set rate = 2 where workspace_id = $1 returning 1 as done";
    expect(await as("admin", change, [workspace])).toEqual(done);
    expect(Number(await version())).toBe(Number(before) + 1);
  });
});

describe("A repricing", () => {
  const repricing = (columns: Record<string, unknown> = {}) =>
    insert("repricings", {
      workspace_id: workspace,
      provider: "acme",
      from_at: "2026-01-01T00:00:00Z",
      ...columns,
    });

  test("Is requested by admins in their own name, and advanced by the service only", async () => {
    expect(await as("admin", ...repricing())).toEqual(done);
    expect(await as("admin", ...repricing({ to_at: "2026-02-01T00:00:00Z" }))).toEqual(done);
    expect(await as("member", ...repricing())).toBe("row-level security");
    const { rows } = await fixtures.sql.query(
      "select distinct requested_by, requested_by_email from public.repricings where workspace_id = $1",
      [workspace],
    );
    expect(rows).toEqual([{ requested_by: users.admin.id, requested_by_email: users.admin.email }]);
    for (const column of [
      { requested_by: users.member.id },
      { requested_by_email: "boss@example.com" },
      { status: "done" },
      { change_usd: "9" },
      { changed_count: 9 },
      { cursor_at: "now" },
    ])
      expect(await as("admin", ...repricing(column)), JSON.stringify(column)).toBe("permission denied");
    expect(await as("admin", ...repricing({ from_at: "-infinity" }))).toBe("repricings_from_at_is_a_moment");
    expect(await as("admin", ...repricing({ to_at: "-infinity" }))).toBe("repricings_to_at_is_a_moment");
  });
});

type Dated = { moment: string | null; seconds: number | null };
/** An instant, and its age by the database's clock, in seconds. */
const dated = (column: string) =>
  `${column}::text as moment, extract(epoch from clock_timestamp() - ${column})::float8 as seconds`;

describe("A project", () => {
  const archive = (who: keyof typeof users, moment: string | null) =>
    as(
      who,
      `update public.projects set archived_at = $2 where id = $1
       returning ${dated("archived_at")}`,
      [project, moment],
    );

  test("Is archived at the current time, whatever the statement says, and keeps that time", async () => {
    const moments: unknown[] = [];
    for (const moment of ["infinity", "-infinity", "2020-01-01T00:00:00Z"]) {
      const [row] = (await archive("member", moment)) as Dated[];
      expect(Math.abs(row?.seconds ?? Number.NaN)).toBeLessThan(30);
      moments.push(row?.moment);
    }
    expect(new Set(moments).size).toBe(1);
    expect(await archive("member", null)).toEqual([{ moment: null, seconds: null }]);
    expect(await archive("viewer", "2020-01-01T00:00:00Z")).toEqual([]);
  });
});

describe("A recurring subscription", () => {
  const stop = (who: keyof typeof users, moment: string) =>
    as(
      who,
      `update public.recurring_subscriptions set stopped_at = $2, next_on = null where workspace_id = $1
       returning ${dated("stopped_at")}`,
      [workspace, moment],
    );

  test("Is stopped at the current time, whatever the statement says, and once", async () => {
    await fixtures.sql.query(
      `insert into public.recurring_subscriptions
         (workspace_id, id, project_id, source, environment, message, period, anchor_on, next_on, created_at)
       values ($1, gen_random_uuid(), $2, 'api', 'live', '{}', 'month', '2026-01-01', '2026-12-01', now())`,
      [workspace, project],
    );
    expect(await stop("viewer", "now")).toEqual([]);
    const [first] = (await stop("member", "infinity")) as Dated[];
    expect(first?.seconds).toBeLessThan(30);
    expect(await stop("member", "2020-01-01")).toEqual([expect.objectContaining({ moment: first?.moment })]);
  });
});
