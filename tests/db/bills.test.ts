import type pg from "pg";
import { beforeAll, describe, expect, test } from "vitest";
import type { Fixtures } from "@/tests/helpers/keys";
import { actAs, createMembers } from "@/tests/helpers/sql-user";
import { withDatabase } from "@/tests/helpers/with-database";

// What the database itself keeps to, whoever asks and however.

let fixtures: Fixtures;
let service: pg.Client;
let workspace: string;
let users: Awaited<ReturnType<typeof createMembers>>;

withDatabase((open) => {
  ({ fixtures, service } = open);
});
beforeAll(async () => {
  workspace = await fixtures.workspace();
  users = await createMembers(fixtures, workspace, await fixtures.workspace());
});

const refused = "42501";
const statement = "00000000-0000-4000-8000-000000000001";
const bill = JSON.stringify({
  ...{ name: "october.csv", format: "csv", sha256: "0".repeat(64) },
  ...{ row_count: 1, left_out_count: 0, left_out_usd: 0 },
  statements: [
    {
      ...{ id: statement, provider: "openai", account: "" },
      ...{ starts_on: "2026-10-01", ends_on: "2026-10-02", amount_usd: 4 },
    },
  ],
  facts: [{ statement_id: statement, model: "gpt-5", amount_usd: 4 }],
});

/** Runs a statement as a user, or as the service with the claims of a user. @returns its rows, or the state of its error */
async function as(
  who: keyof typeof users,
  text: string,
  values: unknown[],
  role = "service",
  end = "rollback",
) {
  await service.query("begin");
  try {
    await actAs(service, { sub: users[who] });
    if (role === "service") await service.query("select set_config('role', 'none', true)");
    const { rows } = await service.query(text, values);
    await service.query(end);
    return rows;
  } catch (error) {
    await service.query("rollback");
    return (error as { code: string }).code;
  }
}

/** How many rows a key reads of tables. @param claims besides those of its workspace */
async function asKey(
  claims: object,
  tables = ["bills", "bill_statements", "billed_facts"],
): Promise<number[]> {
  await service.query("begin");
  const all = { id: users.owner, workspace_id: workspace, environment: "live", allow: null, deny: [] };
  await service.query(
    "select set_config('request.api_key', $1, true), set_config('role', 'outlay_key', true)",
    [JSON.stringify({ ...all, ...claims })],
  );
  const counts: number[] = [];
  for (const table of tables) counts.push((await service.query(`select from public.${table}`)).rowCount ?? 0);
  await service.query("rollback");
  return counts;
}

const add = "select private.add_bill($1, $2) as id";

describe("The bills of a workspace", () => {
  test("are added and deleted by its admins alone, however the service is asked", async () => {
    for (const who of ["member", "viewer", "stranger"] as const)
      expect(await as(who, add, [workspace, bill])).toBe(refused);
    expect(await as("admin", add, [workspace, bill], "authenticated")).toBe(refused);
    expect(await as("admin", add, [workspace, bill], "service", "commit")).toEqual([
      { id: expect.stringMatching(/^[0-9a-f-]{36}$/) },
    ]);
    expect(await as("owner", add, [workspace, bill])).toEqual([{ id: null }]);
    const { rows } = await fixtures.sql.query("select id from public.bills where workspace_id = $1", [
      workspace,
    ]);
    const { id } = rows[0];
    for (const who of ["member", "viewer", "stranger"] as const)
      expect(await as(who, "select private.delete_bill($1, $2)", [workspace, id])).toBe(refused);
    expect(await as("admin", "select private.delete_bill($1, $2) as done", [workspace, id])).toEqual([
      { done: true },
    ]);
  });

  test("are read by its members, and by keys that may read all live spend", async () => {
    const count = "select from public.billed_facts where workspace_id = $1";
    for (const who of ["owner", "viewer"] as const)
      expect(await as(who, count, [workspace], "authenticated")).toHaveLength(1);
    expect(await as("stranger", count, [workspace], "authenticated")).toEqual([]);
    expect(await asKey({})).toEqual([1, 1, 1]);
    for (const confined of [
      { allow: ["checkout"] },
      { deny: ["checkout"] },
      { users: ["anna"] },
      { environment: "test" },
    ])
      expect(await asKey(confined)).toEqual([0, 0, 0]);
    expect(await asKey({ workspace_id: "00000000-0000-4000-8000-000000000002" })).toEqual([0, 0, 0]);
  });

  test("cannot be changed by any user, not even an admin", async () => {
    for (const text of [
      "update public.billed_facts set amount_usd = 0 where workspace_id = $1",
      "delete from public.bills where workspace_id = $1",
      "insert into public.bills (workspace_id, name, format, sha256, row_count) values ($1, 'x', 'csv', repeat('1', 64), 1)",
    ])
      expect(await as("owner", text, [workspace], "authenticated")).toBe(refused);
  });

  test("are of one month each, so that no amount is divided between two", async () => {
    const two = bill.replace("2026-10-02", "2026-11-02").replace("0".repeat(64), "1".repeat(64));
    expect(await as("admin", add, [workspace, two])).toBe("23514");
  });
});

describe("The adjustments to bills of a workspace", () => {
  const id = "00000000-0000-4000-8000-0000000000ad";
  const message = "00000000-0000-7000-8000-0000000000ad";
  const booking = JSON.stringify({
    ...{ id, month: "2026-10-01", project_id: id },
    messages: [
      {
        ...{
          id: message,
          occurred_at: "2026-10-01T00:00:00Z",
          provider: "openai",
          model: "gpt-5",
          label: "x",
        },
        ...{
          part: "no_source",
          amount_usd: "4",
          billed_provider: "openai",
          billed_model: "gpt-5",
          day: "2026-10-01",
        },
      },
    ],
  });
  const book = "select private.book_bill_adjustment($1, $2)";
  const undo = "select private.undo_bill_adjustment($1, $2) as outcome";

  test("are booked and undone by its admins alone, however the service is asked", async () => {
    await fixtures.sql.query("select private.ensure_messages_month('2026-10-01')");
    for (const who of ["member", "viewer", "stranger"] as const)
      expect(await as(who, book, [workspace, booking])).toBe(refused);
    expect(await as("admin", book, [workspace, booking], "authenticated")).toBe(refused);
    expect(await as("admin", book, [workspace, booking], "service", "commit")).toHaveLength(1);
    for (const who of ["member", "viewer", "stranger"] as const)
      expect(await as(who, undo, [workspace, id])).toBe(refused);
    expect(await as("admin", undo, [workspace, message])).toEqual([{ outcome: "unknown" }]);
    expect(await as("owner", undo, [workspace, id])).toEqual([{ outcome: "undone" }]);
  });

  test("are read by its members, and by keys that may read all live spend, and changed by nobody", async () => {
    const tables = ["bill_adjustments", "adjusted_differences"];
    for (const table of tables) {
      const read = `select from public.${table} where workspace_id = $1`;
      expect(await as("viewer", read, [workspace], "authenticated")).toHaveLength(1);
      expect(await as("stranger", read, [workspace], "authenticated")).toEqual([]);
      const clear = `delete from public.${table} where workspace_id = $1`;
      expect(await as("owner", clear, [workspace], "authenticated")).toBe(refused);
    }
    expect(await asKey({}, tables)).toEqual([1, 1]);
    for (const confined of [{ allow: ["checkout"] }, { users: ["anna"] }, { environment: "test" }])
      expect(await asKey(confined, tables)).toEqual([0, 0]);
  });
});

describe("The provider accounts of a workspace", () => {
  const account = (id: string, name = "") =>
    JSON.stringify({ id, provider: "openai", account: name, since: "2026-10-01" });
  const addAccount = "select private.add_provider_account($1, $2, $3, 20) as outcome";
  const sealed = "1.00000000.".padEnd(60, "x");
  const id = "00000000-0000-4000-8000-00000000000a";

  test("are added, pulled and removed by its admins alone, however the service is asked", async () => {
    for (const who of ["member", "viewer", "stranger"] as const)
      expect(await as(who, addAccount, [workspace, account(id), sealed])).toBe(refused);
    expect(await as("admin", addAccount, [workspace, account(id), sealed], "authenticated")).toBe(refused);
    expect(await as("admin", addAccount, [workspace, account(id), sealed], "service", "commit")).toEqual([
      { outcome: "added" },
    ]);
    expect(await as("owner", addAccount, [workspace, account(statement, "b"), sealed])).toEqual([
      { outcome: "taken" },
    ]);
    for (const who of ["member", "viewer", "stranger"] as const) {
      expect(await as(who, "select private.ask_for_pull($1, $2, true)", [workspace, id])).toBe(refused);
      expect(await as(who, "select private.remove_provider_account($1, $2, true)", [workspace, id])).toBe(
        refused,
      );
    }
  });

  test("are read by its admins, and by nobody else", async () => {
    const read = "select from public.provider_accounts where workspace_id = $1";
    for (const who of ["owner", "admin"] as const)
      expect(await as(who, read, [workspace], "authenticated")).toHaveLength(1);
    for (const who of ["member", "viewer", "stranger"] as const)
      expect(await as(who, read, [workspace], "authenticated")).toEqual([]);
    await service.query("begin");
    await service.query("set local role outlay_key");
    await expect(service.query("select from public.provider_accounts")).rejects.toMatchObject({
      code: refused,
    });
    await service.query("rollback");
  });

  test("have keys that no user reads, not even an owner, nor the service but by the function that claims", async () => {
    for (const role of ["authenticated", "service"])
      expect(await as("owner", "select * from private.provider_keys", [], role)).toBe(refused);
    for (const text of [
      "select private.claim_provider_account(1)",
      "select private.reseal_provider_key(null, null, null, null)",
      "select private.begin_pulled_days(null, null, null, 1, null, null)",
      "select private.store_pulled_days(null, null, null, null)",
      "select private.finish_provider_pull('{}')",
      "update public.provider_accounts set accepts_jump = true",
      "delete from public.provider_accounts",
    ])
      expect(await as("owner", text, [], "authenticated"), text).toBe(refused);
  });

  test("are claimed once at a time, and not in a workspace that is deleted", async () => {
    const claim = async () =>
      (await service.query("select private.claim_provider_account(60) as claimed")).rows[0]?.claimed;
    const first = await claim();
    expect(first).toMatchObject({ id, sealed, provider: "openai", today: expect.any(String) });
    expect(await claim()).toBeNull();
    const expire = "update public.provider_accounts set leased_until = now() where id = $1";
    await fixtures.sql.query(expire, [id]);
    const mark = (deletedAt: string, sign: string) =>
      fixtures.sql.query(
        `update public.workspaces set deleted_at = ${deletedAt}, prices_version = prices_version ${sign} private.deletion_mark()
         where id = $1`,
        [workspace],
      );
    await mark("now()", "-");
    expect(await claim()).toBeNull();
    await mark("null", "+");
    const second = await claim();
    expect(second).toMatchObject({ id });
    const store = "select private.begin_pulled_days($1, $2, $3, 60, '2026-10-01', '2026-10-02') as known";
    const begin = async (lease: string) =>
      (await service.query(store, [workspace, id, lease])).rows[0]?.known;
    expect(await begin(first.lease)).toBeNull();
    expect(await begin(second.lease)).toEqual(expect.any(Array));
  });
});
