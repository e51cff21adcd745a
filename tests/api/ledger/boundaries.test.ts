import { describe, expect, test } from "vitest";
import { ledgerDifferences } from "@/tests/helpers/harness";
import { exactClient } from "@/tests/helpers/ledger/client";
import { exact, show, total } from "@/tests/helpers/ledger/exact";
import { withSharedHarness } from "@/tests/helpers/shared-harness";

const harness = withSharedHarness({ services: 2 });

/** A client of each process, in a workspace of its own. Numbers of answers are text, digit by digit. */
async function newClients() {
  const { secret } = await harness.fixtures.key(await harness.fixtures.workspace());
  const [one, other] = harness.services.map(({ baseUrl }) => exactClient(baseUrl, secret));
  if (!one || !other) throw new Error("Two services are to run.");
  return { one, other };
}

type Client = Awaited<ReturnType<typeof newClients>>["one"];

const usage = (fields: Record<string, unknown> = {}, outer: Record<string, unknown> = {}) => ({
  project: "p",
  source: "api",
  message: {
    type: "usage",
    provider: "openai",
    unit_type: "requests",
    quantity: "1",
    estimated_cost: "1",
    ...fields,
  },
  ...outer,
});

const spend = async (client: Client, from: string, to: string) =>
  (await client.get(`/api/v1/projects/p/spend?${new URLSearchParams({ from, to })}`)).body;

const days = async (client: Client, from: string, to: string) =>
  Object.fromEntries(
    ((await spend(client, from, to)).daily as { day: string; total_usd: string }[]).map((row) => [
      row.day,
      row.total_usd,
    ]),
  );

describe("A day, a month and a year as ranges of instants", () => {
  test.each([
    ["the last millisecond of a day", "2026-03-14T23:59:59.999Z", "2026-03-14"],
    ["the first of a day", "2026-03-15T00:00:00Z", "2026-03-15"],
    ["the last of a month", "2026-03-31T23:59:59.999Z", "2026-03-31"],
    ["the first of a month", "2026-04-01T00:00:00.000Z", "2026-04-01"],
    ["the last of a year", "2025-12-31T23:59:59.999Z", "2025-12-31"],
    ["the first of a year", "2026-01-01T00:00:00Z", "2026-01-01"],
    ["New Year on Kiritimati", "2026-01-01T00:00:00+14:00", "2025-12-31"],
    ["New Year's Eve on Baker Island", "2025-12-31T12:00:00-12:00", "2026-01-01"],
    ["a summer hour that clocks skip", "2026-03-29T02:30:00+01:00", "2026-03-29"],
    ["a second written to the microsecond", "2026-04-30T23:59:59.999999Z", "2026-04-30"],
  ])("%s", async (_, occurred_at, day) => {
    const { one } = await newClients();
    expect((await one.post(usage({ occurred_at }))).status).toBe(201);
    const next = new Date(Date.parse(day) + 86_400_000).toISOString();
    expect(await days(one, `${day}T00:00:00Z`, next)).toEqual({ [day]: "1" });
    expect(await days(one, "2000-01-01T00:00:00Z", `${day}T00:00:00Z`)).toEqual({});
    expect(await days(one, next, "2100-01-01T00:00:00Z")).toEqual({});
  });
});

test("A range within a millisecond, or that begins or ends within one, has what occurred in it", async () => {
  const { one } = await newClients();
  // Instants of messages are kept in milliseconds.
  const occurred_at = "2026-03-15T00:00:00.000900Z";
  expect((await one.post(usage({ occurred_at }))).status).toBe(201);
  const total = async (from: string, to: string) => (await spend(one, from, to)).total_usd;
  expect(await total("2026-03-15T00:00:00Z", "2026-03-15T00:00:00.0005Z")).toBe("1");
  expect(await total("2026-03-15T00:00:00.0005Z", "2026-03-15T00:00:00.0009Z")).toBe("0");
  expect(await total("2026-03-15T00:00:00.0005Z", "2026-03-16T00:00:00Z")).toBe("0");
  expect(await total("2026-03-14T00:00:00Z", "2026-03-15T00:00:00.0005Z")).toBe("1");
  expect(await total("2026-03-14T23:59:59.9999Z", "2026-03-15T00:00:00.001Z")).toBe("1");
  expect(await spend(one, "2026-03-15T00:00:00.0005Z", "2026-03-15T00:00:00.0005Z")).toMatchObject({
    error: "validation_failed",
  });
});

describe("The leap day", () => {
  test("Counts as a day, in leap years only", async () => {
    const { one } = await newClients();
    for (const occurred_at of ["2024-02-28T23:59:59.999Z", "2024-02-29T12:00:00Z", "2024-03-01T00:00:00Z"]) {
      expect((await one.post(usage({ occurred_at }))).status).toBe(201);
    }
    expect(await days(one, "2024-02-28T00:00:00Z", "2024-03-02T00:00:00Z")).toEqual({
      "2024-02-28": "1",
      "2024-02-29": "1",
      "2024-03-01": "1",
    });
    const { status, body } = await one.post(usage({ occurred_at: "2026-02-29T00:00:00Z" }));
    expect([status, body.error]).toEqual([400, "validation_failed"]);
  });

  test("Keeps a yearly subscription's parts on the 29th where there is one", async () => {
    const { one } = await newClients();
    const message = {
      type: "subscription",
      vendor: "v",
      amount: "1",
      interval: "year",
      starts_on: "2024-02-29",
    };
    expect((await one.post({ project: "p", source: "api", message })).status).toBe(201);
    const parts = await days(one, "2024-01-01T00:00:00Z", "2026-01-01T00:00:00Z");
    expect(Object.keys(parts)).toEqual([
      ..."02 03 04 05 06 07 08 09 10 11 12".split(" ").map((month) => `2024-${month}-29`),
      "2025-01-29",
    ]);
    expect(show(total(Object.values(parts).map(exact)))).toBe("1");
  });

  test("Renews on the last day of February a year later", async () => {
    const { one } = await newClients();
    const message = {
      type: "subscription",
      vendor: "v",
      amount: "12",
      interval: "year",
      starts_on: "2024-03-31",
    };
    await one.post({ project: "p", source: "api", message });
    expect(Object.keys(await days(one, "2025-01-01T00:00:00Z", "2026-01-01T00:00:00Z"))).toEqual([
      "2025-01-31",
      "2025-02-28",
    ]);
  });
});

test("Compares a subscription's end with the UTC day on which it begins, whatever its offset", async () => {
  const { one } = await newClients();
  const message = {
    type: "subscription",
    vendor: "v",
    amount: "3",
    recurring: true,
    occurred_at: "2026-03-01T00:30:00+01:00",
    ends_on: "2026-02-28",
  };
  expect((await one.post({ project: "p", source: "api", message })).status).toBe(201);
  const tooEarly = { ...message, ends_on: "2026-02-27" };
  expect((await one.post({ project: "p", source: "api", message: tooEarly })).status).toBe(400);
});

test("Keeps cents beyond 2^53 exact in sums and answers", async () => {
  const { one } = await newClients();
  // 2^53 cents, one more than a double can count, and the rest of the next dollar.
  const costs = ["90071992547409.92", "90071992547409.93", "0.000000000000000001", "0.149999999999999999"];
  for (const estimated_cost of costs) {
    expect((await one.post(usage({ estimated_cost }))).body.amount_usd).toBe(estimated_cost);
  }
  const summary = (await one.get("/api/v1/summary/month")).body;
  expect([summary.total_usd, summary.usage_usd, (summary.by_project as Record<string, string>).p]).toEqual(
    Array(3).fill("180143985094820"),
  );
});

describe("Cached tokens", () => {
  const priceOf = async (client: Client, unit_type: string, model: Record<string, string>) =>
    exact(
      String(
        (await client.post(usage({ ...model, unit_type, quantity: "1", estimated_cost: undefined }))).body
          .amount_usd,
      ),
    );

  test("Are charged once when included in the input (OpenAI)", async () => {
    const { one } = await newClients();
    const model = { provider: "openai", model: "gpt-4o" };
    const [input, cached] = [
      await priceOf(one, "input_tokens", model),
      await priceOf(one, "cache_read_tokens", model),
    ];
    expect(input > cached && cached > 0n).toBe(true);
    const { body } = await one.post(
      usage({
        ...model,
        unit_type: "input_tokens",
        quantity: "2006",
        cached_quantity: "1920",
        estimated_cost: undefined,
      }),
    );
    expect(body).toMatchObject({ cost_status: "priced", amount_usd: show(86n * input + 1920n * cached) });
  });

  test("Are charged as lines of their own beside the input (Anthropic), however many", async () => {
    const { one } = await newClients();
    const model = { model: "claude-sonnet-4-5" };
    const provider = "anthropic";
    const units = ["input_tokens", "cache_read_tokens", "cache_write_tokens"];
    const [input = 0n, read = 0n, write = 0n] = await Promise.all(
      units.map((unit) => priceOf(one, unit, { ...model, provider })),
    );
    const items = ["21", "188086", "500"].map((quantity, index) => ({
      ...model,
      unit_type: units[index],
      quantity,
    }));
    const { body } = await one.post({
      project: "p",
      source: "api",
      message: { type: "batch", provider, batch_id: "b", items },
    });
    expect(body).toMatchObject({
      cost_status: "priced",
      amount_usd: show(21n * input + 188_086n * read + 500n * write),
    });
  });

  test("Are refused when they exceed the tokens, instead of costing less than nothing", async () => {
    const { one } = await newClients();
    const { status, body } = await one.post(
      usage({
        unit_type: "input_tokens",
        quantity: "21",
        cached_quantity: "188086",
        estimated_cost: undefined,
      }),
    );
    expect([status, (body.issues as { path: string }[])[0]?.path]).toEqual([400, "message.cached_quantity"]);
  });
});

test("Records only the new half of a repeated bulk call, on any process", async () => {
  const { one, other } = await newClients();
  const message = (number: number, cost = "0.1") =>
    usage({ estimated_cost: cost }, { idempotency_key: `row ${number}` });
  const first = await one.bulk([0, 1, 2, 3].map((number) => message(number)));
  const again = await other.bulk([
    message(3),
    message(4),
    message(1, "0.2"),
    message(2),
    message(4),
    message(5),
  ]);
  const results = again.body.results as { status: string; replayed?: boolean; id?: string; error?: string }[];
  expect(results.map(({ status, replayed, error }) => error ?? `${status} ${replayed}`)).toEqual([
    "201 true",
    "201 false",
    "idempotency_conflict",
    "201 true",
    "201 true",
    "201 false",
  ]);
  const ids = (first.body.results as { id: string }[]).map(({ id }) => id);
  expect([results[0]?.id, results[3]?.id, results[4]?.id]).toEqual([ids[3], ids[2], results[1]?.id]);
  expect((await one.get("/api/v1/summary/month")).body).toMatchObject({
    total_usd: "0.6",
    message_count: "6",
  });
});

test("Records a bulk call once that two processes get at once, and both say so", async () => {
  const { one, other } = await newClients();
  const messages = Array.from({ length: 200 }, (_, number) =>
    usage({ estimated_cost: "0.01" }, { idempotency_key: `${number}` }),
  );
  const answers = await Promise.all([
    one.bulk(messages),
    other.bulk(messages),
    one.bulk(messages),
    other.bulk(messages),
  ]);
  const ids = answers.map(({ body }) => (body.results as { id: string }[]).map(({ id }) => id));
  expect(ids).toEqual(Array(4).fill(ids[0]));
  const fresh = answers.flatMap(({ body }) =>
    (body.results as { replayed: boolean }[]).filter(({ replayed }) => !replayed),
  );
  expect(fresh).toHaveLength(200);
  expect((await one.get("/api/v1/summary/month")).body).toMatchObject({
    total_usd: "2",
    message_count: "200",
  });
});

test("Keeps every derived figure equal to the sum of its messages", async () => {
  expect(await ledgerDifferences(harness.fixtures)).toEqual([]);
});
