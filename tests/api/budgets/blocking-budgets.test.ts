import { beforeEach, describe, expect, test } from "vitest";
import { blockWrites } from "@/tests/helpers/block";
import { blockingBudgetsOf } from "@/tests/helpers/blocking-budgets";
import { apiClient, costMessage } from "@/tests/helpers/client";
import { ledgerDifferences } from "@/tests/helpers/harness";
import type { KeyOptions } from "@/tests/helpers/keys";
import { withSharedHarness } from "@/tests/helpers/shared-harness";
import { makeTeam, type Team } from "@/tests/helpers/team";

const harness = withSharedHarness({ services: 2 });

let team: Team;
let key: { id: string; secret: string };

beforeEach(async () => {
  team = await makeTeam(harness);
  key = await harness.fixtures.key(team.workspace);
});

const { create, edit, read } = blockingBudgetsOf(() => team);

const client = (process = 0, secret = key.secret) =>
  apiClient(harness.services[process]?.baseUrl ?? "", secret);
const keyOf = (options: KeyOptions) => harness.fixtures.key(team.workspace, options);
const cost = (amount: number, message: object = {}) => costMessage({ estimated_cost: amount, ...message });
const codesOf = (answers: { status: number; body: Record<string, unknown> }[]) =>
  answers.map(({ status, body }) => (status < 300 ? status : `${status} ${body.error}`));

const budgetOf = (project: string, slug = project) => ({
  scope_type: "project",
  scope_value: slug,
  name: project,
});

describe("A budget that blocks", () => {
  test.each([1, 2, 3, 4, 5])(
    "Lets 64 clients of eight keys on two processes record exactly its amount (round %i)",
    async () => {
      const { id } = await create({});
      const keys = await Promise.all(Array.from({ length: 8 }, () => keyOf({})));
      const answers = (
        await Promise.all(
          Array.from({ length: 64 }, async (_, index) => {
            const own = client(index % 2, keys[index % 8]?.secret);
            return [await own.post(cost(0.01)), await own.post(cost(0.01))];
          }),
        )
      ).flat();
      expect(answers.filter(({ status }) => status === 201)).toHaveLength(100);
      expect(new Set(codesOf(answers))).toEqual(new Set([201, "402 budget_exceeded"]));
      expect(await read(id)).toMatchObject({ spent: 1, remaining: 0, blocks: true });
      expect(await ledgerDifferences(harness.fixtures)).toEqual([]);
    },
  );

  test("Names the budget, its period and its reset, with the figures for a key that may read it", async () => {
    const budget = await create({ name: "Everything", amount: 0.03 });
    await client().post(cost(0.02));
    const { status, body } = await client().post(cost(0.02));
    expect(status).toBe(402);
    expect(body).toMatchObject({
      error: "budget_exceeded",
      error_description: `This would take the budget "Everything" past its limit: $0.03, of which $0.02 is spent. It resets at ${budget.period_until}T00:00:00.000Z.`,
      budget: { id: budget.id, name: "Everything" },
      period: { from: budget.period_from, until: budget.period_until, time_zone: "UTC" },
      resets_at: `${budget.period_until}T00:00:00.000Z`,
      limit_usd: 0.03,
      spent_usd: 0.02,
    });
    expect((await client().post(cost(0.01))).status).toBe(201);
    expect((await client().post(cost(0.01))).body.error_description).toBe(
      `The budget "Everything" is used up: $0.03, of which $0.03 is spent. It resets at ${budget.period_until}T00:00:00.000Z.`,
    );
  });

  test.each<[string, KeyOptions, boolean]>([
    ["may not read summaries", { permissions: ["log_usage"] }, false],
    ["is limited to a project", { conditions: { project_slugs: ["checkout"] } }, false],
    ["may not use a project", { conditions: { deny_project_slugs: ["secret"] } }, false],
    ["may read everything", {}, true],
  ])("Says what is spent of all only where the key may know: a key that %s", async (_, options, isTold) => {
    await create({ amount: 0.03 });
    await client().post(cost(0.02));
    const { secret } = await keyOf(options);
    const { status, body } = await client(0, secret).post(cost(0.02));
    expect(status).toBe(402);
    expect("limit_usd" in body && "spent_usd" in body).toBe(isTold);
    expect(/\$/.test(String(body.error_description))).toBe(isTold);
  });

  test("Tells a key that may not read it nothing of what is left in a dry run", async () => {
    await create({ amount: 0.03 });
    await client().post(cost(0.02));
    const { secret } = await keyOf({ permissions: ["log_usage"] });
    const tryOut = (amounts: number[], by = secret) =>
      client(0, by).call("POST", "/api/v1/messages/batch?dry_run=true", {
        messages: amounts.map((amount) => cost(amount)),
      });
    const statuses = async (amounts: number[], by?: string) =>
      ((await tryOut(amounts, by)).body.results as { status: number }[]).map(({ status }) => status);
    expect(await statuses([0.001, 5, 5, 0.001])).toEqual([201, 201, 201, 201]);
    expect(await statuses([0.01, 0.001], key.secret)).toEqual([201, 402]);
    await client().post(cost(0.01));
    expect(await statuses([0.001])).toEqual([402]);
  });

  test("Holds back only what it covers", async () => {
    await client().post(cost(0.01, { feature: "chat" }));
    await harness.fixtures.project(team.workspace, "search");
    await create({ ...budgetOf("search"), amount: 0.01 });
    await create({ scope_type: "key", scope_value: key.id, amount: 5 });
    await create({ scope_type: "provider", scope_value: "Anthropic", amount: 0.01 });
    await create({ scope_type: "model", scope_value: "claude", amount: 0.01 });
    await create({ scope_type: "feature", scope_value: "chat", amount: 0.02 });
    await create({ scope_type: "user", scope_value: "anna", amount: 0.01 });
    await create({ scope_type: "tag", scope_value: "team:growth", amount: 0.01 });
    const over = async (message: object, outer: Record<string, unknown> = {}) =>
      (await client().post(costMessage({ estimated_cost: 0.02, ...message }, outer))).status;
    expect(await over({})).toBe(201);
    expect(await over({}, { project: "search" })).toBe(402);
    expect(await over({ provider: "aNthropic" })).toBe(402);
    expect(await over({ model: "claude" })).toBe(402);
    expect(await over({ feature: "chat" })).toBe(402);
    expect(await over({ user: "anna" })).toBe(402);
    expect(await over({ tags: { team: "growth" } })).toBe(402);
    expect(await over({ tags: { team: "sales" }, user: "ben", feature: "search" })).toBe(201);
  });

  test("Matches a provider as the sums of the database do", async () => {
    await create({ scope_type: "provider", scope_value: "openai", amount: 0.01 });
    // The database's lower case of this letter is an i.
    expect((await client().post(cost(0.02, { provider: "OPENAİ" }))).status).toBe(402);
  });

  test("Decides each message of a bulk call by itself, in order", async () => {
    await create({ amount: 0.03 });
    const { body } = await client().call("POST", "/api/v1/messages/batch", {
      messages: [cost(0.02), cost(0.02), cost(0.01), cost(0.01)],
    });
    expect(body).toMatchObject({ recorded: 2, refused: 2 });
    expect(
      (body.results as { status: number; error?: string }[]).map(({ status, error }) => error ?? status),
    ).toEqual([201, "budget_exceeded", 201, "budget_exceeded"]);
  });

  test("Counts every line of a message, and refuses it as a whole", async () => {
    const { id } = await create({ amount: 0.03 });
    const batch = (count: number) => ({
      project: "checkout",
      source: "api",
      message: {
        type: "batch",
        provider: "openai",
        batch_id: "b",
        items: Array.from({ length: count }, () => ({
          unit_type: "images",
          quantity: 1,
          estimated_cost: 0.01,
        })),
      },
    });
    expect((await client().post(batch(4))).status).toBe(402);
    expect((await client().post(batch(3))).status).toBe(201);
    expect(await read(id)).toMatchObject({ spent: 0.03 });
  });

  test("Holds in every period that it counts: a posting of the past or the future is of its own period", async () => {
    const { id } = await create({ period: "day", amount: 0.02, time_zone: "Asia/Kolkata" });
    await harness.fixtures.sql.query("select private.ensure_messages_month(now() - interval '2 days')");
    // Set two days ago: what time does to a budget.
    await harness.fixtures.sql.query(
      "update public.budgets set counted_from = counted_from - 2 where id = $1",
      [id],
    );
    const at = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();
    const statuses: number[] = [];
    for (const days of [1, 1, 1, 0, 0, 0]) {
      statuses.push((await client().post(cost(0.01, { occurred_at: at(days) }))).status);
    }
    expect(statuses).toEqual([201, 201, 402, 201, 201, 402]);
    // A bulk call with several of them.
    const { body } = await client().call("POST", "/api/v1/messages/batch", {
      messages: [2, 2, 2, 1, 0].map((days) => cost(0.01, { occurred_at: at(days) })),
    });
    expect((body.results as { status: number }[]).map(({ status }) => status)).toEqual([
      201, 201, 402, 402, 402,
    ]);
    // Before it was set, it counts nothing.
    expect((await client().post(cost(1, { occurred_at: at(9) }))).status).toBe(201);
  });

  test("Counts the months that a subscription is booked ahead for", async () => {
    await create({ amount: 10 });
    const subscribe = (amount: number) =>
      client().post({
        project: "checkout",
        source: "api",
        message: { type: "subscription", vendor: "v", plan: "p", amount, interval: "year" },
      });
    expect(codesOf([await subscribe(121)])).toEqual(["402 budget_exceeded"]);
    expect(codesOf([await subscribe(120)])).toEqual([201]);
    expect(codesOf([await subscribe(1)])).toEqual(["402 budget_exceeded"]);
  });

  test("Lets through what is known to cost nothing, moves within it and retries", async () => {
    await client().post(cost(0.01, {}), { "Idempotency-Key": "before" });
    const { id } = await create({ amount: 0.01 });
    expect((await client().post(cost(0.01))).status).toBe(402);
    expect((await client().post(cost(0))).status).toBe(201);
    expect((await client().post(cost(0.01, {}), { "Idempotency-Key": "before" })).status).toBe(201);
    const unpriced = costMessage({ model: "no-such-model", estimated_cost: undefined });
    expect((await client().post(unpriced)).status).toBe(402);
    const included = costMessage({ model: "gpt-4o", estimated_cost: undefined, included: true });
    expect((await client().post(included)).status).toBe(201);
    const move = {
      project: "search",
      source: "api",
      message: { type: "allocation", from_project: "checkout", amount: 0.005 },
    };
    expect((await client().post(move)).status).toBe(201);
    expect(await read(id)).toMatchObject({ spent: 0.01 });
  });

  test("Takes no more cost moved into a project, and lets it move out", async () => {
    await client().post(costMessage({ estimated_cost: 0.05 }, { project: "checkout" }));
    await client().post(costMessage({ estimated_cost: 0.05 }, { project: "search" }));
    await create({ ...budgetOf("search"), amount: 0.06 });
    const move = (from: string, project: string, amount: number) =>
      client().post({ project, source: "api", message: { type: "allocation", from_project: from, amount } });
    expect((await move("checkout", "search", 0.02)).status).toBe(402);
    expect((await move("checkout", "search", 0.01)).status).toBe(201);
    expect((await move("search", "checkout", 0.03)).status).toBe(201);
    expect((await move("checkout", "search", 0.03)).status).toBe(201);
  });

  test("Counts live spend only", async () => {
    await create({ amount: 0.01 });
    const { secret } = await keyOf({ environment: "test" });
    expect((await client(0, secret).post(cost(5))).status).toBe(201);
    expect((await client().post(cost(0.01))).status).toBe(201);
    expect((await client(0, secret).post(cost(5))).status).toBe(201);
  });

  test("Only warns where it does not block, and changes with an edit at once", async () => {
    const { id } = await create({ amount: 0.01, blocks: false });
    expect((await client().post(cost(0.01))).status).toBe(201);
    expect((await client().post(cost(0.01))).status).toBe(201);
    expect((await edit(id, { blocks: true })).body).toMatchObject({ blocks: true });
    expect((await client(1).post(cost(0.01))).status).toBe(402);
    await edit(id, { amount: 0.03 });
    expect((await client(0).post(cost(0.01))).status).toBe(201);
    expect((await client(1).post(cost(0.01))).status).toBe(402);
    await edit(id, { raise: { amount: 0.04, until: "2999-01-01" } });
    expect((await client(0).post(cost(0.01))).status).toBe(201);
    await edit(id, { blocks: false });
    expect((await client(1).post(cost(0.01))).status).toBe(201);
  });

  test.each([
    ["its limit is lowered", { amount: 100, blocks: true }, { amount: 0.1 }],
    ["it begins to block", { amount: 0.1, blocks: false }, { blocks: true }],
  ])("Waits, where %s, until what was decided before is recorded", async (_, before, change) => {
    const { id } = await create(before);
    // The month exists from here on.
    await client().post(cost(0.01));
    const block = await blockWrites(harness.database.adminUrl);
    const sending = client().post(cost(0.5));
    await block.holdsUp(1);
    const editing = edit(id, change);
    await block.holdsUp(2).finally(block.release);
    expect([(await sending).status, (await editing).status]).toEqual([201, 200]);
    expect((await client(1).post(cost(0.01))).status).toBe(402);
  });

  test("Names the one that resets last where several have no room", async () => {
    await create({ name: "Day", period: "day", amount: 0.01 });
    await create({ name: "Year", period: "year", amount: 0.01 });
    await create({ name: "Month", period: "month", amount: 0.01 });
    const { body } = await client().post(cost(0.02));
    expect(body).toMatchObject({ error: "budget_exceeded", budget: { name: expect.any(String) } });
    // December ends with the year, and so does its last day.
    const now = new Date();
    const last = [
      "Year",
      ...(now.getUTCMonth() === 11 ? ["Month", ...(now.getUTCDate() === 31 ? ["Day"] : [])] : []),
    ];
    expect(last).toContain((body.budget as { name: string }).name);
  });
});
