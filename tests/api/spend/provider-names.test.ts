import { expect, test } from "vitest";
import type { Metrics } from "@/lib/contract/spend/metrics";
import type { SpendAnswer } from "@/lib/contract/spend/spend-query";
import { costMessage } from "@/tests/helpers/client";
import { foldPastDays } from "@/tests/helpers/folds";
import { expense, newClient, record } from "@/tests/helpers/recording";
import { withSharedHarness } from "@/tests/helpers/shared-harness";
import { addUser } from "@/tests/helpers/team";

const harness = withSharedHarness();

const dayMs = 86_400_000;
const dayAt = (daysAgo: number) => new Date(Date.now() - daysAgo * dayMs).toISOString();
const range = { from: dayAt(100).slice(0, 10), to: dayAt(0).slice(0, 10) };
const other = { provider: "anthropic", model: "claude", estimated_cost: 100 };

/** A workspace that spent 127 on one provider in four spellings, of it 71 now, and 100 on another now. */
async function spend() {
  const client = await newClient(harness);
  const past = dayAt(95);
  const posted = await Promise.all([
    ...["OpenAI", "openai", "OPENAI"].flatMap((provider, index) => [
      client.post(costMessage({ provider, estimated_cost: 2 ** index })),
      client.post(costMessage({ provider, estimated_cost: 2 ** (index + 3), occurred_at: past })),
    ]),
    record(client, { ...expense(64), vendor: "OpenAi" }),
    client.post(costMessage(other)),
  ]);
  expect(posted.map(({ status }) => status)).toEqual(posted.map(() => 201));
  const { rows } = await harness.fixtures.sql.query("select slug from public.workspaces where id = $1", [
    client.workspace,
  ]);
  const user = await addUser(harness, client.workspace, "owner");
  return { client, user, path: `/api/v1/workspaces/${rows[0].slug}` };
}

type Spent = Awaited<ReturnType<typeof spend>>;

/** Every figure of the providers that an answer has, by the address or question that it answers. */
async function readAll({ client, user, path }: Spent) {
  const ask = async (caller: Pick<typeof user, "call">, question: object) => {
    const { status, body } = await caller.call(
      "POST",
      caller === user ? `${path}/spend/query` : "/api/v1/spend/query",
      {
        ...range,
        ...question,
      },
    );
    expect([status, body]).toEqual([200, body]);
    const { rows, totals } = body as unknown as SpendAnswer;
    return {
      rows: rows.groups.map(({ value, cost_usd }) => [value, cost_usd]),
      total: totals.cost_usd,
    };
  };
  const metrics = async (query: string) => {
    const { status, body } = await user.get(
      `${path}/metrics?period=range&from=${range.from}&to=${range.to}&${query}`,
    );
    expect([status, body]).toEqual([200, body]);
    const { by_provider: slices, series, totals } = body as unknown as Metrics;
    return {
      slices: slices.map(({ value, name, total_usd }) => [value, name, total_usd]),
      series: series.groups.map(({ name, total_usd }) => [name, total_usd]),
      total: totals.total_usd,
    };
  };
  const rowsOf = async (name: string) => {
    const { body } = await user.get(`${path}/activity?period=all&provider=${name}`);
    return (body.activity as { amount_usd: number }[])
      .map(({ amount_usd: amount }) => amount)
      .sort((a, b) => a - b);
  };
  const filters = [{ field: "provider", values: ["oPenAI"] }];
  const without = [{ field: "provider", op: "is_not", values: ["oPenAI"] }];
  return {
    slices: await metrics("group_by=provider"),
    narrow: await metrics("group_by=provider&project=checkout"),
    stackedByProject: await metrics("group_by=project&project=checkout"),
    filtered: await metrics("group_by=model&provider=oPenAI"),
    explored: await ask(user, { group_by: ["provider"] }),
    byDay: await ask(user, { group_by: ["provider", "day"] }),
    byModel: await ask(user, { group_by: ["provider", "model"] }),
    ofTokens: await ask(user, { group_by: ["provider"], measure: "tokens" }),
    ofKey: await ask(client, { group_by: ["provider"] }),
    one: await ask(user, { filters }),
    oneByModel: await ask(user, {
      group_by: ["provider"],
      filters: [...filters, { field: "project", values: ["checkout"] }],
    }),
    others: await ask(user, { group_by: ["provider"], filters: without }),
    activity: await rowsOf("oPenAI"),
  };
}

test("Treats spellings of one provider that differ in letter case as one provider wherever they are summed or asked for", async () => {
  const spent = await spend();
  const providers = [
    ["OPENAI", 127],
    ["anthropic", 100],
  ];
  const named = [
    ["OPENAI", "OPENAI", 127],
    ["anthropic", "anthropic", 100],
  ];
  const bySize = { rows: providers, total: 227 };
  const expected = {
    slices: { slices: named, series: providers, total: 227 },
    narrow: { slices: named, series: providers, total: 227 },
    stackedByProject: { slices: named, series: [["checkout", 227]], total: 227 },
    filtered: {
      slices: [["OPENAI", "OPENAI", 127]],
      series: [
        ["gpt-4o", 63],
        [null, 64],
      ].reverse(),
      total: 127,
    },
    explored: bySize,
    byDay: bySize,
    byModel: bySize,
    ofTokens: bySize,
    ofKey: bySize,
    one: { rows: [[null, 127]], total: 127 },
    oneByModel: { rows: [["OPENAI", 127]], total: 127 },
    others: { rows: [["anthropic", 100]], total: 100 },
    activity: [1, 2, 4, 8, 16, 32, 64],
  };
  expect(await readAll(spent)).toEqual(expected);
  await foldPastDays(harness.fixtures);
  const { rows } = await harness.fixtures.sql.query(
    "select sum(amount_usd)::float8 as folded from public.monthly_spend where workspace_id = $1",
    [spent.client.workspace],
  );
  expect(rows).toEqual([{ folded: 56 }]);
  expect(await readAll(spent)).toEqual(expected);

  const { path, user } = spent;
  const budget = { scope_type: "provider", scope_value: "oPENai", amount: 1000 };
  expect((await user.call("POST", `${path}/budgets`, budget)).status).toBe(201);
  const { body } = await spent.client.get("/api/v1/budgets/status");
  expect(body.budgets).toMatchObject([{ spent: 71 }]);
});
