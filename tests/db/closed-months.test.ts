import pg from "pg";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { fileClosedMonths } from "@/lib/ledger/closing/filed-export";
import { connectService } from "@/tests/helpers/connect-service";
import type { TestDatabase } from "@/tests/helpers/database";
import type { Fixtures } from "@/tests/helpers/keys";
import { actAs, createMembers } from "@/tests/helpers/sql-user";
import { withDatabase } from "@/tests/helpers/with-database";

// What the database itself keeps to, whoever asks and however.

let fixtures: Fixtures;
let service: pg.Client;
let database: TestDatabase;
let workspace: string;
let users: Awaited<ReturnType<typeof createMembers>>;
const sql = (text: string, values: unknown[] = []) => fixtures.sql.query(text, values);

withDatabase((open) => {
  ({ database, fixtures, service } = open);
});
connectService(() => database);
beforeAll(async () => {
  workspace = await fixtures.workspace();
  users = await createMembers(fixtures, workspace, await fixtures.workspace());
});
beforeEach(async () => {
  await sql("delete from public.closed_months");
  await sql("update public.workspaces set closed_until = null");
});

type Role = keyof typeof users;

/** Runs a statement as a user, or as the service with the claims of a user. @returns its rows, or the state of its error */
async function as(who: Role, statement: string, role = "authenticated", end = "rollback"): Promise<unknown> {
  await service.query("begin");
  try {
    await actAs(service, { sub: users[who] });
    if (role === "service") await service.query("select set_config('role', 'none', true)");
    const { rows } = await service.query(statement, [workspace]);
    await service.query(end);
    return rows;
  } catch (error) {
    await service.query("rollback");
    return (error as { code: string }).code;
  }
}

const refused = "42501";
const close = "select private.close_months($1, '2026-01-01')::text as done";
const done = [{ done: "" }];

describe("Months of a workspace", () => {
  test("are filed later where their figures could not be read, and the process goes on", async () => {
    expect(await as("admin", close, "service", "commit")).toEqual(done);
    await sql("alter function private.figures_to_file(uuid, date) rename to no_figures");
    try {
      await expect(fileClosedMonths(workspace)).rejects.toThrow("of another version");
    } finally {
      await sql("alter function private.no_figures(uuid, date) rename to figures_to_file");
    }
    expect(await fileClosedMonths(workspace)).toBe(1);
  });

  test("are closed and reopened by its admins alone, however the service is asked", async () => {
    for (const role of ["member", "viewer", "stranger"] as const)
      expect(await as(role, close, "service")).toBe(refused);
    expect(await as("admin", close)).toBe(refused);
    expect(await as("admin", close, "service", "commit")).toEqual(done);
    const { rows } = await sql("select id from public.closed_months where workspace_id = $1", [workspace]);
    await sql("update public.closed_months set sha256 = repeat('0', 64)");
    const reopen = `select private.reopen_month($1, '${rows[0].id}', 'x')::text as done`;
    for (const role of ["member", "viewer", "stranger"] as const)
      expect(await as(role, reopen, "service")).toBe(refused);
    expect(await as("owner", reopen)).toBe(refused);
    expect(await as("owner", reopen, "service", "commit")).toEqual(done);
    expect(await as("owner", reopen, "service")).toBe("55000");
  });

  test("are read by members, and changed by no statement of a user", async () => {
    await as("owner", close, "service", "commit");
    const read =
      "select to_char(month, 'YYYY-MM') as month from public.closed_months where workspace_id = $1";
    for (const role of ["owner", "admin", "member", "viewer"] as const)
      expect(await as(role, read)).toEqual([{ month: "2026-01" }]);
    expect(await as("stranger", read)).toEqual([]);
    for (const statement of [
      "update public.closed_months set amount_usd = 0 where workspace_id = $1",
      "delete from public.closed_months where workspace_id = $1",
      `insert into public.closed_months (workspace_id, month, amount_usd, adjustments_usd, message_count, unpriced_count)
       values ($1, '2026-02-01', 0, 0, 0, 0)`,
      "update public.workspaces set closed_until = null where id = $1",
      "select * from private.filed_exports where workspace_id = $1",
      "update public.messages set amount_usd = 0 where workspace_id = $1",
    ])
      expect(await as("owner", statement)).toBe(refused);
  });

  test("are closed once, in order, and no sooner than two days after their end", async () => {
    const closing = (day: string) =>
      as("owner", `select private.close_months($1, '${day}')::text as done`, "service", "commit");
    expect(await closing("2026-03-15")).toBe("55000");
    const { rows } = await sql(
      "select date_trunc('month', now())::date::text as present, (date_trunc('month', now() - interval '2 days') - interval '1 month')::date::text as last",
    );
    expect(await closing(rows[0].present)).toBe("55000");
    expect(await closing(rows[0].last)).toEqual(done);
    expect(await closing(rows[0].last)).toBe("55000");
    const { rows: audited } = await sql(
      "select action, actor_id from public.audit_log where workspace_id = $1 and kind = 'closed_month' order by at desc limit 1",
      [workspace],
    );
    expect(audited).toEqual([{ action: "closed_month.created", actor_id: users.owner }]);
  });
});

test("Closing waits for what is being recorded, so that it counts in what is filed", async () => {
  const recording = new pg.Client({ connectionString: database.url });
  await recording.connect();
  try {
    await recording.query("begin");
    // As groups of messages, voids, corrections and repricings do.
    await recording.query("select private.hold_budgets(array[$1::uuid])", [workspace]);
    await service.query("set lock_timeout = '100ms'");
    expect(await as("owner", close, "service")).toBe("55P03");
    await recording.query("commit");
    expect(await as("owner", close, "service")).toEqual(done);
  } finally {
    await service.query("reset lock_timeout");
    await recording.end();
  }
});

test("No change of sums reaches a closed day but the name of a person", async () => {
  await as("owner", close, "service", "commit");
  const change = (day: string, changes: [amount: number, project: number, person: string | null][]) =>
    sql(
      `select private.add_daily_spend(array(
         select row($1, $2::date, ('00000000-0000-4000-8000-00000000000' || project)::uuid, null, 'expense', 'v', null, null, 'api', 'live',
           amount, 0, 0, 0, person, null, 0)::public.daily_spend
         from jsonb_to_recordset($3) as c (amount numeric, project int, person text)))`,
      [
        workspace,
        day,
        JSON.stringify(changes.map(([amount, project, person]) => ({ amount, project, person }))),
      ],
    ).then(
      () => "done",
      (error) => error.code,
    );
  expect(await change("2026-02-01", [[1, 1, null]])).toBe("done");
  expect(await change("2026-01-31", [[1, 1, null]])).toBe("40001");
  // A move between projects changes figures, too.
  expect(
    await change("2026-01-31", [
      [1, 1, null],
      [-1, 2, null],
    ]),
  ).toBe("40001");
  expect(
    await change("2026-01-31", [
      [1, 1, "ada"],
      [-1, 1, "person-7"],
    ]),
  ).toBe("done");
});
