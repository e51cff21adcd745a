import type pg from "pg";
import { beforeAll, expect, test } from "vitest";
import type { Fixtures } from "@/tests/helpers/keys";
import { actAs, createMembers } from "@/tests/helpers/sql-user";
import { withDatabase } from "@/tests/helpers/with-database";

// What the database itself keeps to about limits at providers, whoever asks and however.

let fixtures: Fixtures;
let service: pg.Client;
let workspace: string;
let users: Awaited<ReturnType<typeof createMembers>>;
const account = "00000000-0000-4000-8000-00000000000b";
const limit = "00000000-0000-4000-8000-00000000000c";
let budget: string;

withDatabase((open) => {
  ({ fixtures, service } = open);
});
beforeAll(async () => {
  workspace = await fixtures.workspace();
  users = await createMembers(fixtures, workspace, await fixtures.workspace());
  const { sql } = fixtures;
  await sql.query(
    "insert into public.provider_accounts (workspace_id, id, provider, account, since) values ($1, $2, 'openai', '', '2026-10-01')",
    [workspace, account],
  );
  await sql.query(
    "insert into private.provider_keys (workspace_id, account_id, sealed) values ($1, $2, repeat('x', 60))",
    [workspace, account],
  );
  const { rows } = await sql.query(
    "insert into public.budgets (workspace_id, name, scope_type, amount) values ($1, 'All', 'global', 500) returning id",
    [workspace],
  );
  budget = rows[0].id;
});

const refused = "42501";

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
const given = () =>
  JSON.stringify({
    ...{ id: limit, budget_id: budget, account_id: account, kind: "project" },
    ...{ target: "proj_1", period: "month", removes: true },
  });

test("Are linked, asked for and removed by admins alone, however the service is asked", async () => {
  const add = "select private.add_provider_limit($1, $2, 200) as outcome";
  for (const who of ["member", "viewer", "stranger"] as const)
    expect(await as(who, add, [workspace, given()])).toBe(refused);
  expect(await as("admin", add, [workspace, given()], "authenticated")).toBe(refused);
  expect(await as("admin", add, [workspace, given()], "service", "commit")).toEqual([{ outcome: "added" }]);
  expect(await as("owner", add, [workspace, given()])).toEqual([{ outcome: "taken" }]);
  for (const who of ["member", "viewer", "stranger"] as const)
    for (const text of [
      "select private.ask_for_provider_limit($1, $2, true)",
      "select private.remove_provider_limit($1, $2, false)",
      "select private.read_provider_account($1, $2)",
      "select private.list_limited_targets($1, $2)",
    ])
      expect(await as(who, text, [workspace, limit]), `${who} ${text}`).toBe(refused);
});

test("Are read by members without the provider's ids, and by no key", async () => {
  const read = "select id, state, target_name from public.provider_limits where workspace_id = $1";
  for (const who of ["owner", "member", "viewer"] as const)
    expect(await as(who, read, [workspace], "authenticated")).toHaveLength(1);
  expect(await as("stranger", read, [workspace], "authenticated")).toEqual([]);
  for (const text of [
    "select target from public.provider_limits",
    "update public.provider_limits set writes = true",
    "delete from public.provider_limits",
    "select private.claim_provider_limit(1)",
    "select private.finish_provider_limit('{}')",
  ])
    expect(await as("owner", text, [], "authenticated"), text).toBe(refused);
  await service.query("begin");
  await service.query("set local role outlay_key");
  await expect(service.query("select id from public.provider_limits")).rejects.toMatchObject({
    code: refused,
  });
  await service.query("rollback");
});

test("Are claimed by one process at a time, and stay due after a run during which they changed", async () => {
  const claim = async () =>
    (await service.query("select private.claim_provider_limit(60) as claimed")).rows[0]?.claimed;
  const first = await claim();
  expect(first).toMatchObject({ id: limit, target: "proj_1", limit_usd: "500", writes: true });
  expect(await claim()).toBeNull();
  await fixtures.sql.query("update public.budgets set amount = 600 where id = $1", [budget]);
  const ended = (claimed: object, usd: string) =>
    service.query("select private.finish_provider_limit($1)", [
      JSON.stringify({
        ...claimed,
        ...{
          outcome: "equal",
          held: { usd, period: "month", stops: true },
          written_usd: usd,
          retry_in_seconds: 86_400,
        },
      }),
    ]);
  await ended(first, "500");
  const second = await claim();
  expect(second).toMatchObject({ limit_usd: "600", written_usd: "500" });
  // The first run has lost its lease.
  await ended(first, "1");
  await ended(second, "600");
  expect(await claim()).toBeNull();
  const { rows } = await fixtures.sql.query(
    "select state, written_usd::text as usd, next_at > now() + interval '23 hours' as waits from public.provider_limits where id = $1",
    [limit],
  );
  expect(rows).toEqual([{ state: "equal", usd: "600", waits: true }]);
});

test("Are read again when a raise ends", async () => {
  await fixtures.sql.query(
    "update public.budgets set raised_amount = 900, raised_until = (now() at time zone 'UTC')::date where id = $1",
    [budget],
  );
  const { claimed } = (await service.query("select private.claim_provider_limit(60) as claimed")).rows[0];
  expect(claimed).toMatchObject({ limit_usd: "900" });
  await service.query("select private.finish_provider_limit($1)", [
    JSON.stringify({ ...claimed, outcome: "equal", written_usd: "900", retry_in_seconds: 172_800 }),
  ]);
  const { rows } = await fixtures.sql.query(
    "select next_at = ((now() at time zone 'UTC')::date + 1)::timestamp at time zone 'UTC' as at_midnight from public.provider_limits where id = $1",
    [limit],
  );
  expect(rows).toEqual([{ at_midnight: true }]);
});

test("Are claimed of no workspace that is deleted", async () => {
  const due = () =>
    fixtures.sql.query("update public.provider_limits set next_at = now() where id = $1", [limit]);
  const claim = async () =>
    (await as("owner", "select private.claim_provider_limit(60) as claimed", [])) as {
      claimed: object | null;
    }[];
  await due();
  await fixtures.sql.query(
    "update public.workspaces set deleted_at = now(), prices_version = -1 where id = $1",
    [workspace],
  );
  expect(await claim()).toEqual([{ claimed: null }]);
  await fixtures.sql.query(
    "update public.workspaces set deleted_at = null, prices_version = 0 where id = $1",
    [workspace],
  );
  expect(await claim()).toMatchObject([{ claimed: { id: limit } }]);
});

test("Are written if someone asks for it during a run, and count the failures since the last success", async () => {
  await fixtures.sql.query(
    "update public.provider_limits set next_at = now(), writes = false where id = $1",
    [limit],
  );
  const run = async (outcome: string, during?: () => Promise<unknown>) => {
    const { claimed } = (await service.query("select private.claim_provider_limit(60) as claimed")).rows[0];
    await during?.();
    await service.query("select private.finish_provider_limit($1)", [
      JSON.stringify({ ...claimed, outcome, problem: "why", retry_in_seconds: 0 }),
    ]);
    const { rows } = await fixtures.sql.query(
      "select writes, attempts from public.provider_limits where id = $1",
      [limit],
    );
    return rows[0];
  };
  const ask = () =>
    as(
      "admin",
      "select private.ask_for_provider_limit($1, $2, true)",
      [workspace, limit],
      "service",
      "commit",
    );
  expect(await run("equal", ask)).toEqual({ writes: true, attempts: 0 });
  expect(await run("failed")).toEqual({ writes: true, attempts: 1 });
  expect(await run("failed")).toEqual({ writes: true, attempts: 2 });
  expect(await run("interrupted")).toEqual({ writes: true, attempts: 2 });
  expect(await run("equal")).toEqual({ writes: false, attempts: 0 });
});

test.each([
  ["amount = amount + 1", true],
  ["raised_amount = 950", true],
  ["raised_until = raised_until + 1", true],
  ["raised_amount = null, raised_until = null", true],
  ["currency = 'EUR', usd_rate = 1.1", true],
  ["name = name || '!'", false],
])("Are due at once where the budget's limit changes, and not otherwise: %s", async (change, isDue) => {
  const set = (what: string) =>
    fixtures.sql.query(`update public.budgets set ${what} where id = $1`, [budget]);
  await set("raised_amount = 900, raised_until = now()::date + 5");
  await fixtures.sql.query(
    "update public.provider_limits set next_at = now() + interval '1 day' where id = $1",
    [limit],
  );
  await set(change);
  const { rows } = await fixtures.sql.query(
    "select next_at <= now() as is_due from public.provider_limits where id = $1",
    [limit],
  );
  expect(rows).toEqual([{ is_due: isDue }]);
});

test("Alert about a budget by the one that differs, whichever was read last, unless it is being removed", async () => {
  const { sql } = fixtures;
  await sql.query(
    `insert into public.provider_limits
       (workspace_id, budget_id, account_id, provider, account, kind, target, target_name, period, removes, state, read_at)
     values ($1, $2, $3, 'openai', '', 'project', 'proj_2', 'Search', 'month', true, 'drift', now() - interval '1 day')`,
    [workspace, budget, account],
  );
  await sql.query("update public.provider_limits set state = 'equal', read_at = now() where id = $1", [
    limit,
  ]);
  const judged = async () => {
    const { rows } = await sql.query(
      "select judged ->> 'state' as state, judged #>> '{details,target}' as target from private.judge_provider_limits(now()) as judged",
    );
    return rows;
  };
  expect(await judged()).toEqual([{ state: "warning", target: "Search" }]);
  await sql.query("update public.provider_limits set is_removing = true where target = 'proj_2'");
  expect(await judged()).toEqual([]);
});
