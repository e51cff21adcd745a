import type pg from "pg";
import { beforeAll, describe, expect, test } from "vitest";
import { addChannel } from "@/tests/helpers/alerts";
import type { Fixtures } from "@/tests/helpers/keys";
import { actAs, createMember } from "@/tests/helpers/sql-user";
import { withDatabase } from "@/tests/helpers/with-database";

// What users can do by SQL to what belongs to each member: how far they looked at alerts, and their weekly report.

let fixtures: Fixtures;
let service: pg.Client;
let workspace: string;
let users: Record<"viewer" | "owner" | "stranger", string>;

withDatabase((open) => {
  ({ fixtures, service } = open);
});
beforeAll(async () => {
  workspace = await fixtures.workspace();
  const elsewhere = await fixtures.workspace();
  const add = async (where: string, role: string) => (await createMember(fixtures, where, role)).id;
  users = {
    viewer: await add(workspace, "viewer"),
    owner: await add(workspace, "owner"),
    stranger: await add(elsewhere, "owner"),
  };
});

const refused = "42501";
/** Runs a statement as a user and rolls it back. @returns its rows, or the state of its error */
async function as(who: keyof typeof users, ...statements: string[]): Promise<unknown> {
  await service.query("begin");
  try {
    await actAs(service, { sub: users[who] });
    let rows: unknown[] = [];
    for (const sql of statements) ({ rows } = await service.query(sql));
    return rows;
  } catch (error) {
    return (error as { code: string }).code;
  } finally {
    await service.query("rollback");
  }
}

describe.each([
  ["seen_alerts", "seen_number", "5", "6"],
  ["weekly_reports", "time_zone", "'UTC'", "'Asia/Kolkata'"],
])("public.%s", (table, column, value, other) => {
  const insert = () =>
    `insert into public.${table} (workspace_id, ${column}) values ('${workspace}', ${value})`;
  const insertFor = (user: string) =>
    fixtures.sql.query(
      `insert into public.${table} (workspace_id, user_id, ${column}${table === "weekly_reports" ? ", next_at" : ""})
       values ($1, $2, ${value}${table === "weekly_reports" ? ", now()" : ""})`,
      [workspace, user],
    );

  test("Takes a member's own row, which no other member reads or changes, not even an owner", async () => {
    expect(await as("viewer", insert(), `select user_id from public.${table}`)).toEqual([
      { user_id: users.viewer },
    ]);
    await insertFor(users.viewer);
    for (const who of ["owner", "stranger"] as const) {
      expect(await as(who, `select 1 from public.${table}`)).toEqual([]);
      expect(await as(who, `update public.${table} set ${column} = ${other} returning ${column}`)).toEqual(
        [],
      );
    }
    expect(await as("viewer", `update public.${table} set ${column} = ${other} returning user_id`)).toEqual([
      { user_id: users.viewer },
    ]);
  });

  test("Takes no row for another user, of another workspace, or with a time that others set", async () => {
    expect(
      await as(
        "viewer",
        `insert into public.${table} (workspace_id, user_id, ${column}) values ('${workspace}', '${users.owner}', ${value})`,
      ),
    ).toBe(refused);
    expect(await as("stranger", insert())).toBe(refused);
    if (table === "weekly_reports")
      expect(await as("viewer", `update public.${table} set next_at = now()`)).toBe(refused);
  });

  test("Ends with the membership", async () => {
    await fixtures.sql.query(
      "insert into public.workspace_members (workspace_id, user_id, role) values ($1, $2, 'viewer') on conflict do nothing",
      [workspace, users.stranger],
    );
    await insertFor(users.stranger);
    await fixtures.sql.query(
      "delete from public.workspace_members where workspace_id = $1 and user_id = $2",
      [workspace, users.stranger],
    );
    const { rows } = await fixtures.sql.query(`select 1 from public.${table} where user_id = $1`, [
      users.stranger,
    ]);
    expect(rows).toEqual([]);
  });
});

test("A Slack user is read and unlinked by the member alone to whom it is linked, and linked by no statement", async () => {
  const channel = await addChannel(fixtures, workspace, { kind: "slack" });
  const { rows } = await fixtures.sql.query(
    `insert into public.slack_links (workspace_id, channel_id, slack_team, slack_user, slack_name, user_id, aal)
     values ($1, $2, 'T1', 'U1', 'ada', $3, 'aal1') returning id`,
    [workspace, channel, users.viewer],
  );
  const read = "select id from public.slack_links";
  const unlink = "delete from public.slack_links returning id";
  for (const who of ["owner", "stranger"] as const) {
    expect(await as(who, read)).toEqual([]);
    expect(await as(who, unlink)).toEqual([]);
  }
  expect(await as("viewer", read)).toEqual(rows);
  expect(await as("viewer", unlink)).toEqual(rows);
  expect(await as("owner", "insert into public.slack_links (user_id) values (null)")).toBe(refused);
  expect(await as("viewer", "update public.slack_links set slack_user = 'U2'")).toBe(refused);
});
