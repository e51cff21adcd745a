import pg from "pg";
import { beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { waitingSessions } from "@/tests/helpers/block";
import type { Fixtures } from "@/tests/helpers/keys";
import { actAs, createMembers } from "@/tests/helpers/sql-user";
import { withDatabase } from "@/tests/helpers/with-database";

// What the database itself keeps to about requests for more of a budget or of a key's limit, whoever asks and however.

let fixtures: Fixtures;
let service: pg.Client;
let url: string;
let workspace: string;
let users: Awaited<ReturnType<typeof createMembers>>;
let budget: string;

withDatabase((open) => {
  ({ fixtures, service } = open);
  url = open.database.url;
});
beforeAll(async () => {
  workspace = await fixtures.workspace();
  users = await createMembers(fixtures, workspace, await fixtures.workspace());
});
beforeEach(async () => {
  await fixtures.sql.query("delete from public.budget_requests where workspace_id = $1", [workspace]);
  budget = await makeBudget();
});

const first = async (text: string, values: unknown[]) => (await fixtures.sql.query(text, values)).rows[0];
const makeBudget = async (zone = "UTC", scope = "global", value: string | null = null): Promise<string> =>
  (
    await first(
      `insert into public.budgets (workspace_id, name, scope_type, scope_value, amount, time_zone) values ($1, 'All', $2, $3, 10, $4)
       returning id`,
      [workspace, scope, value, zone],
    )
  ).id;

/** Begins a transaction of the service with the claims of a user. */
async function begin(client: pg.Client, who: keyof typeof users) {
  await client.query("begin");
  await actAs(client, { sub: users[who] });
  await client.query("select set_config('role', 'none', true)");
}

/** Calls a function as the service with the claims of a user. */
async function as(who: keyof typeof users, text: string, values: unknown[]) {
  await begin(service, who);
  const { rows } = await service.query(text, values);
  await service.query("commit");
  return rows[0]?.outcome;
}

/** The SQL of a day: that many days from today in a time zone. */
const dayIn = (days: number, zone = "UTC") => `(clock_timestamp() at time zone '${zone}')::date + ${days}`;
const asking = (until = dayIn(5)) =>
  `select private.ask_for_more(jsonb_build_object(
     'workspace_id', $1::uuid, 'key_id', null, 'budget_id', $2::uuid, 'limited_key_id', $3::uuid, 'amount', '2', 'percent', null,
     'reason', 'A launch', 'until', ${until})) as outcome`;
const ask = (who: keyof typeof users, until?: string, limited: string | null = null) =>
  as(who, asking(until), [workspace, limited === null ? budget : null, limited]);
const approve = (id: string, until = "null") =>
  as(
    "admin",
    `select private.decide_budget_request($1, $2, jsonb_build_object('approve', true, 'until', ${until})) as outcome`,
    [workspace, id],
  );

/** Waits until a promise is kept, or its session waits for a lock. */
async function untilWaiting(done: Promise<unknown>, statement: string): Promise<void> {
  let isDone = false;
  void done.then(() => {
    isDone = true;
  });
  await vi.waitUntil(async () => isDone || (await waitingSessions(fixtures.sql, statement)) > 0, {
    timeout: 10_000,
    interval: 5,
  });
}

describe("A request", () => {
  test("is made by owners, admins and members alone, and withdrawn by its author alone", async () => {
    for (const who of ["viewer", "stranger"] as const)
      expect(await ask(who)).toEqual({ refused: "not_found" });
    for (const who of ["owner", "admin"] as const) expect(await ask(who)).toHaveProperty("id");
    const { id } = await ask("member");
    const withdraw = (who: keyof typeof users) =>
      as(who, "select private.withdraw_budget_request($1, $2) as outcome", [workspace, id]);
    for (const who of ["owner", "admin", "viewer", "stranger"] as const)
      expect(await withdraw(who), who).toBe(false);
    expect([await withdraw("member"), await withdraw("member")]).toEqual([true, false]);
  });

  // At every hour, one of them has another day than UTC.
  test.each(["UTC", "Pacific/Kiritimati", "Etc/GMT+12"])(
    "may be made for today, and granted until today, by the clock of a budget in %s",
    async (zone) => {
      budget = await makeBudget(zone);
      expect(await ask("member", dayIn(-1, zone))).toEqual({ refused: "over" });
      const { id } = await ask("member", dayIn(0, zone));
      const readState = () =>
        first("select state, owner_most::text from public.budget_request_status where id = $1", [id]);
      expect(await readState()).toMatchObject({ state: "pending" });
      expect(await approve(id)).toBeNull();
      expect(await readState()).toMatchObject({ state: "approved" });
      const longer = await ask("member", dayIn(5, zone));
      await fixtures.sql.query(
        "update public.budgets set raised_amount = null, raised_until = null where id = $1",
        [budget],
      );
      expect(await approve(longer.id, dayIn(-1, zone))).toMatchObject({ refused: "until" });
      expect(await approve(longer.id, dayIn(0, zone))).toBeNull();
    },
  );

  test("is the only one of its author that waits: who asks twice at once is told of the first", async () => {
    const second = new pg.Client({ connectionString: url });
    await second.connect();
    for (const client of [service, second]) await begin(client, "member");
    const made = (await service.query(asking(), [workspace, budget, null])).rows[0].outcome;
    const again = second.query(asking(), [workspace, budget, null]);
    await untilWaiting(again, "ask_for_more");
    await service.query("commit");
    expect((await again).rows[0].outcome).toEqual({ refused: "pending", id: made.id });
    await second.end();
  });

  test("may be made 20 times in 24 hours: older ones do not count", async () => {
    const insert = (count: number, age: string) =>
      fixtures.sql.query(
        `insert into public.budget_requests (workspace_id, budget_id, requested_by, amount, reason, until, created_at, state, decided_at)
         select $1, $2, $3, 1, 'A launch', now()::date + 5, now() - $4::interval, 'withdrawn', now() from generate_series(1, $5)`,
        [workspace, budget, users.member, age, count],
      );
    await insert(30, "25 hours");
    await insert(19, "23 hours");
    const last = await ask("member");
    expect(last).toHaveProperty("id");
    await as("member", "select private.withdraw_budget_request($1, $2) as outcome", [workspace, last.id]);
    expect(await ask("member")).toEqual({ refused: "too_many" });
  });

  test("leaves the limit's owner what earlier raises have left of their share", async () => {
    await fixtures.sql.query("update public.budgets set owner_id = $2, owner_percent = 50 where id = $1", [
      budget,
      users.viewer,
    ]);
    const [one, two] = [await ask("member"), await ask("owner")];
    const most = async () =>
      (
        await first(
          "select trim_scale(owner_most)::text as most from public.budget_request_status where id = $1",
          [two.id],
        )
      ).most;
    expect(await most()).toBe("5");
    expect(await approve(one.id)).toBeNull();
    expect(await most()).toBe("3");
  });

  test("raises the limit that the key has by then, also where it is edited at the same time, and adds to a raise", async () => {
    const key = (await fixtures.key(workspace, { monthly_limit: "1" })).id;
    const [{ id }, later] = [await ask("member", dayIn(5), key), await ask("owner", dayIn(5), key)];
    const editor = await fixtures.sql.connect();
    await editor.query("begin");
    await editor.query("update public.api_keys set monthly_limit = 5 where id = $1", [key]);
    const approved = approve(id);
    await untilWaiting(approved, "decide_budget_request");
    await editor.query("commit");
    editor.release();
    expect(await approved).toBeNull();
    const raised = async () =>
      (await first("select raised_limit::text as usd from public.api_keys where id = $1", [key])).usd;
    expect(await raised()).toBe("7");
    expect(await approve(later.id)).toBeNull();
    expect(await raised()).toBe("9");
  });
});

test.each<[string, string | null, Record<string, unknown>, boolean]>([
  ["global", null, { features: ["chat"] }, true],
  ["provider", "openai", {}, true],
  ["feature", "chat", {}, true],
  ["feature", "chat", { features: ["search", "chat"] }, true],
  ["feature", "chat", { features: ["search"] }, false],
  ["user", "ada", { users: ["ada"] }, true],
  ["user", "ada", { users: ["bo"] }, false],
  ["project", "checkout", {}, true],
  ["project", "checkout", { project_slugs: ["checkout"] }, true],
  ["project", "checkout", { project_slugs: ["search"] }, false],
  ["project", "checkout", { project_slugs: ["checkout"], deny_project_slugs: ["checkout"] }, true],
  ["project", "checkout", { deny_project_slugs: ["search"] }, true],
  ["project", "checkout", { deny_project_slugs: ["checkout"] }, false],
])(
  "A key may ask for more of a budget that can count what it records: %s %s, %o: %s",
  async (scope, name, conditions, may) => {
    const slug = "checkout";
    const project = await first(
      `insert into public.projects (workspace_id, slug, name) values ($1, $2, $2)
     on conflict (workspace_id, slug) do update set name = excluded.name returning id`,
      [workspace, slug],
    );
    const of = await makeBudget("UTC", scope, scope === "project" ? project.id : name);
    const { id } = await fixtures.key(workspace, { conditions });
    const { limited } = await first("select private.limit_to_ask($1, $2, null) as limited", [id, of]);
    expect(limited !== null).toBe(may);
  },
);

test.each([
  ["UTC", "2026-11-28T23:59:59.999Z", "2026-11-29T00:00:00Z"],
  ["Asia/Tokyo", "2026-11-28T14:59:59.999Z", "2026-11-28T15:00:00Z"],
  ["America/New_York", "2026-11-29T04:59:59.999Z", "2026-11-29T05:00:00Z"],
])(
  "A raise until 28 November holds to the end of that day in %s, and a key's to its end in UTC",
  async (zone, last, over) => {
    const of = await makeBudget(zone);
    await fixtures.sql.query(
      "update public.budgets set raised_amount = 15, raised_until = '2026-11-28' where id = $1",
      [of],
    );
    const limitAt = async (at: string) =>
      (
        await first(
          "select trim_scale(private.budget_limit(b, $2))::text as usd from public.budgets as b where id = $1",
          [of, at],
        )
      ).usd;
    expect([await limitAt(last), await limitAt(over)]).toEqual(["15", "10"]);
    const keyLimitAt = async (at: string) =>
      (await first("select private.key_limit(10, 15, '2026-11-28', $1)::text as usd", [at])).usd;
    expect([await keyLimitAt("2026-11-28T23:59:59.999Z"), await keyLimitAt("2026-11-29T00:00:00Z")]).toEqual([
      "15",
      "10",
    ]);
  },
);
