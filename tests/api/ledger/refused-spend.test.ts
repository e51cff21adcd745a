import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { beforeEach, expect, test } from "vitest";
import { blockingBudgetsOf } from "@/tests/helpers/blocking-budgets";
import { apiClient, costMessage } from "@/tests/helpers/client";
import type { KeyOptions } from "@/tests/helpers/keys";
import { withSharedHarness } from "@/tests/helpers/shared-harness";
import { makeTeam, type Team } from "@/tests/helpers/team";

// What limits refuse to record is kept beside the sums that it would have been in, because the calls have usually been made.

const harness = withSharedHarness({ services: 2 });

let team: Team;
beforeEach(async () => {
  team = await makeTeam(harness);
});

const { create } = blockingBudgetsOf(() => team);

const keyOf = (options: KeyOptions = {}) => harness.fixtures.key(team.workspace, options);
const client = (secret: string, process = 0) => apiClient(harness.services[process]?.baseUrl ?? "", secret);
const cost = (amount: number, message: object = {}, outer: object = {}) =>
  costMessage({ estimated_cost: amount, ...message }, { ...outer });

/** What the workspace's metrics say was refused, over all days unless another period is given. */
async function refusedIn(filters = "", period = "all"): Promise<unknown> {
  const { status, body } = await team.users.viewer.get(`${team.path}/metrics?period=${period}${filters}`);
  expect(status).toBe(200);
  return body.refused;
}

const limitsOf = async (secret: string) =>
  (await client(secret).get("/api/v1/limits")).body as {
    key: { monthly_limit: Record<string, unknown> | null };
    budgets: Record<string, unknown>[];
  };

const rowsOf = async (sql: string, ...values: unknown[]) =>
  (await harness.fixtures.sql.query(sql, [team.workspace, ...values])).rows;

test("Shows what a key's limit refused in metrics, by project, key and model, and to the key itself", async () => {
  const { id, secret } = await keyOf({ monthly_limit: "1" });
  const other = await keyOf();
  await client(other.secret).post(cost(5));
  expect((await client(secret).post(cost(7, { model: "gpt-4o" }))).status).toBe(402);
  expect((await client(secret).post(cost(2.25, { model: "o1" }, { project: "search" }))).status).toBe(402);
  expect(await refusedIn()).toEqual({ total_usd: 9.25, message_count: 2 });
  expect(await refusedIn("&project=search")).toEqual({ total_usd: 2.25, message_count: 1 });
  expect(await refusedIn("&model=gpt-4o")).toEqual({ total_usd: 7, message_count: 1 });
  expect(await refusedIn(`&key=${id}`)).toEqual({ total_usd: 9.25, message_count: 2 });
  expect(await refusedIn(`&key=${other.id}`)).toEqual({ total_usd: 0, message_count: 0 });
  expect(await refusedIn("&feature=chat")).toBeNull();
  expect((await limitsOf(secret)).key.monthly_limit).toMatchObject({ spent_usd: 0, refused_usd: 9.25 });
});

test.each([
  ["UTC", "T23:59:59.999Z", 0],
  ["Pacific/Kiritimati", "T09:59:59.999Z", 0],
  ["Pacific/Kiritimati", "T10:00:00Z", 1],
])("Is of the day on which it occurred in %s: at %s of day %i", async (zone, time, days) => {
  await rowsOf("update public.workspaces set time_zone = $2 where id = $1", zone);
  const dayOf = (more: number) => new Date(Date.now() + (more - 5) * 86_400_000).toISOString().slice(0, 10);
  const { secret } = await keyOf({ monthly_limit: "0" });
  expect((await client(secret).post(cost(2, { occurred_at: `${dayOf(0)}${time}` }))).status).toBe(402);
  const on = (day: string) => refusedIn(`&from=${day}&to=${day}`, "range");
  expect(await on(dayOf(days))).toEqual({ total_usd: 2, message_count: 1 });
  for (const other of [days - 1, days + 1]) expect(await on(dayOf(other))).toMatchObject({ total_usd: 0 });
});

test("Is of its environment alone, also where the other one records a message with the same key", async () => {
  const message = cost(2, {}, { idempotency_key: randomUUID() });
  const { secret } = await keyOf({ monthly_limit: "0", environment: "test" });
  expect((await client(secret).post(message)).status).toBe(402);
  expect(await refusedIn()).toMatchObject({ total_usd: 0 });
  const live = await keyOf({ monthly_limit: "0" });
  expect((await client(live.secret).post(message)).status).toBe(402);
  await rowsOf("update public.api_keys set monthly_limit = 2 where workspace_id = $1 and id = $2", live.id);
  expect((await client(live.secret).post(message)).status).toBe(201);
  expect(await refusedIn()).toMatchObject({ total_usd: 0 });
  expect(await refusedIn("&environment=test")).toMatchObject({ total_usd: 2 });
});

test("Shows what budgets refused with each budget that counts it", async () => {
  const search = await keyOf();
  await client(search.secret).post(cost(0.01, {}, { project: "search" }));
  const all = await create({ name: "Everything", amount: 100 });
  const ofSearch = await create({ name: "Search", scope_type: "project", scope_value: "search", amount: 1 });
  const ofUser = await create({ name: "Bo", scope_type: "user", scope_value: "bo", amount: 1 });
  expect((await client(search.secret).post(cost(3, {}, { project: "search" }))).status).toBe(402);
  expect((await client(search.secret).post(cost(4, { user: "bo" }))).status).toBe(402);
  const { body } = await team.users.viewer.get(`${team.path}/budgets`);
  const refused = Object.fromEntries(
    (body.budgets as { id: string; refused_usd: number }[]).map((budget) => [budget.id, budget.refused_usd]),
  );
  expect(refused).toEqual({ [all.id]: 7, [ofSearch.id]: 3, [ofUser.id]: 4 });
  expect((await limitsOf(search.secret)).budgets.map(({ name, refused_usd: usd }) => [name, usd])).toEqual([
    ["Bo", 4],
    ["Everything", 7],
    ["Search", 3],
  ]);
});

test("Counts a retry of a refused message once, through either process and in one call", async () => {
  const { secret } = await keyOf({ monthly_limit: "0" });
  const retried = cost(2, {}, { idempotency_key: randomUUID() });
  await Promise.all([0, 1, 0, 1].map((process) => client(secret, process).post(retried)));
  await client(secret).call("POST", "/api/v1/messages/batch", {
    messages: [retried, retried, cost(1), cost(1)],
  });
  expect(await refusedIn()).toEqual({ total_usd: 4, message_count: 3 });
});

test("Takes back what is recorded later, however its row was summed", async () => {
  const { id, secret } = await keyOf({ monthly_limit: "1" });
  const keys = [randomUUID(), randomUUID()];
  const messages = keys.map((idempotency_key, index) => cost(2 + index, {}, { idempotency_key }));
  for (const message of messages) await client(secret).post(message);
  expect(await refusedIn()).toEqual({ total_usd: 5, message_count: 2 });
  await harness.fixtures.sql.query("update public.api_keys set monthly_limit = 2.5 where id = $1", [id]);
  expect((await client(secret, 1).post(messages[0])).status).toBe(201);
  expect(await refusedIn()).toEqual({ total_usd: 3, message_count: 1 });
  expect((await client(secret).post(messages[0])).headers.get("idempotent-replayed")).toBe("true");
  expect((await client(secret).post(messages[1])).status).toBe(402);
  expect(await refusedIn()).toEqual({ total_usd: 3, message_count: 1 });
});

test("Keeps nothing of a dry run, of what conditions refuse, and of an allocation", async () => {
  const { secret } = await keyOf({ monthly_limit: "0", conditions: { features: ["chat"] } });
  expect((await client(secret).post(cost(1, { feature: "chat" }), {}, "?dry_run=true")).status).toBe(402);
  expect((await client(secret).post(cost(1, { feature: "search" }))).status).toBe(403);
  const mover = await keyOf({ monthly_limit: "0" });
  await client((await keyOf()).secret).post(cost(5));
  const allocation = { type: "allocation", from_project: "checkout", amount: 1 };
  expect((await client(mover.secret).post({ project: "b", source: "api", message: allocation })).status).toBe(
    402,
  );
  expect(await refusedIn()).toEqual({ total_usd: 0, message_count: 0 });
  expect(await rowsOf("select from private.refused_calls where workspace_id = $1")).toEqual([]);
});

test("Sums to what was refused and not recorded later, for any order of messages and retries", async () => {
  const step = fc.record({ key: fc.integer({ min: 0, max: 7 }), raise: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 14 }), async (steps) => {
      const { id, secret } = await keyOf({ monthly_limit: "0" });
      const run = randomUUID();
      const refused = new Map<number, number>();
      let limit = 0;
      for (const { key, raise } of steps) {
        if (raise) {
          limit += 3;
          await harness.fixtures.sql.query("update public.api_keys set monthly_limit = $2 where id = $1", [
            id,
            limit,
          ]);
        }
        const amount = key + 1;
        const { status } = await client(secret, key % 2).post(
          cost(amount, {}, { idempotency_key: `${run} ${key}` }),
        );
        if (status === 402) refused.set(key, amount);
        else refused.delete(key);
      }
      const total = [...refused.values()].reduce((sum, amount) => sum + amount, 0);
      expect(await refusedIn(`&key=${id}`)).toEqual({ total_usd: total, message_count: refused.size });
    }),
    { numRuns: 12 },
  );
});

test("Grows neither the sums nor what is remembered without bound under a flood of names", async () => {
  const { id, secret } = await keyOf({ monthly_limit: "0" });
  const flood = (from: number) => ({
    messages: Array.from({ length: 1000 }, (_, index) =>
      cost(1, { model: `m${from + index}` }, { idempotency_key: `${id} ${from + index}` }),
    ),
  });
  for (let call = 0; call < 6; call += 1)
    await client(secret).call("POST", "/api/v1/messages/batch", flood(call * 1000));
  expect(await refusedIn()).toEqual({ total_usd: 6000, message_count: 6000 });
  expect(
    await rowsOf(
      `select (select count(*)::int from public.refused_spend where workspace_id = $1) <= 201 as sums,
        (select count(*)::int from private.refused_calls where workspace_id = $1) as calls`,
    ),
  ).toEqual([{ sums: true, calls: 5000 }]);
  // The latest are remembered: what is recorded of them later is taken back.
  await rowsOf("update public.api_keys set monthly_limit = 9 where workspace_id = $1 and id = $2", id);
  for (const [place, message_count] of [
    [5999, 5999],
    [0, 5999],
  ] as const) {
    expect((await client(secret).post(flood(place).messages[0])).status).toBe(201);
    expect(await refusedIn()).toMatchObject({ message_count });
  }
});

test("Records past the limit of a key that is set to, and marks it", async () => {
  const { body: key } = await team.users.member.call("POST", `${team.path}/api-keys`, {
    name: "Gateway",
    permissions: ["log_usage", "read_summaries"],
    monthly_limit: 1,
    on_limit: "record",
  });
  const secret = String(key.secret);
  const within = await client(secret).post(cost(1));
  expect([within.status, within.body.over_limit]).toEqual([201, undefined]);
  const past = await client(secret).post(cost(2), { "idempotency-key": String(key.id) });
  expect(past).toMatchObject({ status: 201, body: { over_limit: { limit_usd: 1, spent_usd: 3 } } });
  const again = await client(secret, 1).post(cost(2), { "idempotency-key": String(key.id) });
  expect(again.body).toEqual(past.body);
  expect((await limitsOf(secret)).key.monthly_limit).toMatchObject({
    on_limit: "record",
    spent_usd: 3,
    remaining_usd: 0,
    refused_usd: 0,
  });
  expect(await refusedIn()).toEqual({ total_usd: 0, message_count: 0 });
  await team.users.member.call("PATCH", `${team.path}/api-keys/${key.id}`, { on_limit: "refuse" });
  expect((await client(secret).post(cost(2))).status).toBe(402);
  // Admins decide about budgets: the setting of a key does not pass them.
  await team.users.member.call("PATCH", `${team.path}/api-keys/${key.id}`, { on_limit: "record" });
  await create({ amount: 0.5 });
  expect((await client(secret).post(cost(2))).status).toBe(402);
});
