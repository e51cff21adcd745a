import { beforeAll, describe, expect, test } from "vitest";
import { apiClient, costMessage } from "@/tests/helpers/client";
import { ledgerDifferences } from "@/tests/helpers/harness";
import { type Client, newClient, record, spendOf } from "@/tests/helpers/recording";
import { withSharedHarness } from "@/tests/helpers/shared-harness";

const harness = withSharedHarness({ services: 2 });

describe("Usage", () => {
  let client: Client;
  beforeAll(async () => {
    client = await newClient(harness);
  });

  test.each([
    ["openai", "gpt-4o", "input_tokens", 1234, 0.003085],
    ["openai", "gpt-4o", "output_tokens", 777, 0.00777],
    ["anthropic", "claude-sonnet-4-5", "input_tokens", 1_000_001, 3.000003],
    ["anthropic", "claude-sonnet-4-5", "output_tokens", 333, 0.004995],
    ["anthropic", "claude-sonnet-4-5", "cache_read_tokens", 12_345, 0.0037035],
  ])(
    "Of %s %s without a cost is %s × the published rate, to the last digit",
    async (provider, model, unit_type, quantity, amount) => {
      const { status, body } = await record(client, { type: "usage", provider, model, unit_type, quantity });
      expect(status).toBe(201);
      expect(body).toEqual({
        id: expect.any(String),
        amount_usd: amount,
        project_id: expect.any(String),
        created_at: expect.stringMatching(/\+00:00$/),
        cost_status: "priced",
      });
    },
  );

  test("Leaves an unknown model or unit unpriced, never a silent 0", async () => {
    const fresh = await newClient(harness);
    for (const line of [
      { model: "gpt-nobody-knows", unit_type: "input_tokens" },
      { model: "gpt-4o", unit_type: "hugs" },
    ]) {
      const { body } = await record(fresh, { type: "usage", provider: "openai", quantity: 5, ...line });
      expect(body).toMatchObject({ amount_usd: 0, cost_status: "unpriced" });
    }
    const { body } = await fresh.get("/api/v1/summary/month");
    expect(body).toMatchObject({ total_usd: 0, message_count: 2, unpriced_count: 2 });
  });

  test("Keeps the smallest and largest amounts exact, beyond the range of floats", async () => {
    const exact = await newClient(harness);
    const amounts = [
      "0.000000000001",
      "90071992547409.93",
      "0.1",
      "0.2",
      "123456789012345.678901234567890123",
    ];
    for (const amount of amounts) {
      const body = JSON.stringify(costMessage()).replace("0.01", amount);
      expect((await exact.post(body)).status).toBe(201);
    }
    const { rows } = await harness.fixtures.sql.query(
      "select sum(amount_usd)::text as sum from public.messages where workspace_id = $1",
      [exact.workspace],
    );
    expect(rows[0].sum).toBe("213528781559755.908901234568890123");
    const response = await fetch(`${harness.services[0]?.baseUrl}/api/v1/summary/month`, {
      headers: { authorization: `Bearer ${(await harness.fixtures.key(exact.workspace)).secret}` },
    });
    expect(await response.text()).toContain('"total_usd":213528781559755.908901234568890123');
  });
});

describe("A batch", () => {
  test("Counts as one message, and by line in every breakdown", async () => {
    const client = await newClient(harness);
    const { status, body } = await record(client, {
      type: "batch",
      provider: "openai",
      batch_id: "b-1",
      items: [
        { model: "gpt-4o", unit_type: "input_tokens", quantity: 1_000_000, feature: "chat" },
        { model: "gpt-4o-mini", unit_type: "input_tokens", quantity: 1_000_000, feature: "chat" },
        { model: "gpt-4o", unit_type: "output_tokens", quantity: 1, estimated_cost: 0.5 },
      ],
    });
    expect([status, body.amount_usd, body.cost_status]).toEqual([201, 3.15, "priced"]);
    expect(await spendOf(client, "checkout")).toMatchObject({
      total_usd: 3.15,
      usage_usd: 3.15,
      message_count: 1,
      by_model: [
        { model: "gpt-4o", total_usd: 3 },
        { model: "gpt-4o-mini", total_usd: 0.15 },
      ],
      by_feature: [
        { feature: "chat", total_usd: 2.65 },
        { feature: null, total_usd: 0.5 },
      ],
    });
  });

  test("Is unpriced as a whole when one line has no price", async () => {
    const client = await newClient(harness);
    const { body } = await record(client, {
      type: "batch",
      provider: "openai",
      batch_id: "b-2",
      items: [
        { model: "gpt-4o", unit_type: "input_tokens", quantity: 1_000_000 },
        { model: "nobody-knows", unit_type: "input_tokens", quantity: 1 },
      ],
    });
    expect(body).toMatchObject({ amount_usd: 2.5, cost_status: "unpriced" });
    expect((await spendOf(client, "checkout")).unpriced_count).toBe(1);
  });

  test("Is refused as a whole when one line has a forbidden feature", async () => {
    const client = await newClient(harness, { conditions: { features: ["chat"] } });
    const items = [
      { unit_type: "requests", quantity: 1, feature: "chat" },
      { unit_type: "requests", quantity: 1, feature: "search" },
    ];
    const { body } = await record(client, { type: "batch", provider: "openai", batch_id: "b", items });
    expect(body.error).toBe("feature_not_allowed");
  });
});

describe("An expense", () => {
  test("Is converted from another currency at a rate that is stored with it", async () => {
    const client = await newClient(harness);
    const { body } = await record(client, {
      type: "expense",
      vendor: "Sakura",
      amount: 28_600,
      currency: "JPY",
    });
    expect(body.cost_status).toBe("converted");
    const { rows } = await harness.fixtures.sql.query(
      `select amount_usd = original_amount * (price ->> 'rate')::numeric as exact, currency, price ->> 'date' as date
       from public.messages where id = $1`,
      [body.id],
    );
    expect(rows).toEqual([
      { exact: true, currency: "JPY", date: expect.stringMatching(/^\d{4}-\d\d-\d\d$/) },
    ]);
  });

  test("May have three decimals in KWD", async () => {
    const client = await newClient(harness);
    expect(
      (await record(client, { type: "expense", vendor: "v", amount: 1.234, currency: "KWD" })).status,
    ).toBe(201);
    expect(
      (await record(client, { type: "expense", vendor: "v", amount: 1.2345, currency: "KWD" })).status,
    ).toBe(400);
  });
});

describe("A subscription", () => {
  test("Charges a month on its first day", async () => {
    const client = await newClient(harness);
    const message = {
      type: "subscription",
      vendor: "Figma",
      amount: 45,
      plan: "Pro",
      seats: 3,
      starts_on: "2026-11-01",
    };
    expect((await record(client, message)).body).toMatchObject({ amount_usd: 45, cost_status: "client" });
    expect(
      await spendOf(client, "checkout", "?from=2026-11-01T00:00:00Z&to=2026-11-02T00:00:00Z"),
    ).toMatchObject({
      subscription_usd: 45,
      usage_usd: 0,
    });
  });

  test("Spreads a year over twelve months to the last digit, and its key spends it once", async () => {
    const client = await newClient(harness, { monthly_limit: "100" });
    const message = {
      type: "subscription",
      vendor: "GitHub",
      amount: 100,
      interval: "year",
      starts_on: "2026-01-31",
    };
    expect((await record(client, message)).body.amount_usd).toBe(100);
    expect((await record(client, message)).body).toMatchObject({
      error: "monthly_limit_exceeded",
      spent_usd: 100,
    });
    const { rows } = await harness.fixtures.sql.query(
      `select to_char(occurred_at at time zone 'UTC', 'YYYY-MM-DD') as day, amount_usd::text as amount
       from public.messages where workspace_id = $1 order by part`,
      [client.workspace],
    );
    expect(rows.map(({ day }) => day)).toEqual([
      "2026-01-31",
      "2026-02-28",
      "2026-03-31",
      "2026-04-30",
      "2026-05-31",
      "2026-06-30",
      "2026-07-31",
      "2026-08-31",
      "2026-09-30",
      "2026-10-31",
      "2026-11-30",
      "2026-12-31",
    ]);
    expect(new Set(rows.slice(0, 11).map(({ amount }) => amount))).toEqual(new Set(["8.333333333333333333"]));
    expect(rows[11]?.amount).toBe("8.333333333333333337");
    const year = await spendOf(client, "checkout", "?from=2026-01-01T00:00:00Z&to=2027-01-01T00:00:00Z");
    expect(year).toMatchObject({ total_usd: 100, message_count: 1 });
  });
});

describe("Environments", () => {
  test("Keep a test key's spend and a live key's apart", async () => {
    const live = await newClient(harness);
    const { secret } = await harness.fixtures.key(live.workspace, { environment: "test" });
    const trial = apiClient(harness.services[0]?.baseUrl ?? "", secret);
    await live.post(costMessage());
    await trial.post(costMessage({ estimated_cost: 5 }));
    expect((await live.get("/api/v1/summary/month")).body.total_usd).toBe(0.01);
    expect((await trial.get("/api/v1/summary/month")).body.total_usd).toBe(5);
  });
});

test("Keeps every derived figure equal to the sum of its messages", async () => {
  expect(await ledgerDifferences(harness.fixtures)).toEqual([]);
});
