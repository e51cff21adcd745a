import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { type Answer, apiClient, costMessage } from "@/tests/helpers/client";
import { ledgerDifferences, withHarness } from "@/tests/helpers/harness";
import type { KeyOptions } from "@/tests/helpers/keys";

const harness = withHarness({ services: 2 });

/** A client with a workspace of its own. */
async function newClient(options: KeyOptions = {}) {
  const workspace = await harness.fixtures.workspace();
  const { secret, id } = await harness.fixtures.key(workspace, options);
  return { workspace, keyId: id, ...apiClient(harness.services[0]?.baseUrl ?? "", secret) };
}

type Client = Awaited<ReturnType<typeof newClient>>;

const record = (client: Client, message: Record<string, unknown>, project = "checkout") =>
  client.post({ project, source: "api", message });

const expense = (amount: number) => ({ type: "expense", vendor: "v", amount });

const spendOf = async (client: Client, project: string, query = "") =>
  (await client.get(`/api/v1/projects/${project}/spend${query}`)).body as Record<string, never>;

describe("Usage", () => {
  let client: Client;
  beforeAll(async () => {
    client = await newClient();
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
    const fresh = await newClient();
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
    const exact = await newClient();
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
    const client = await newClient();
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
    const client = await newClient();
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
    const client = await newClient({ conditions: { features: ["chat"] } });
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
    const client = await newClient();
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
    const client = await newClient();
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
    const client = await newClient();
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
    const client = await newClient({ monthly_limit: "100" });
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

describe("An allocation", () => {
  test("Moves an amount in two entries that sum to zero, and its key spends nothing", async () => {
    const client = await newClient({ monthly_limit: "1.5" });
    await record(
      client,
      { type: "usage", provider: "p", unit_type: "requests", quantity: 1, estimated_cost: 1 },
      "shared",
    );
    const { body } = await record(
      client,
      { type: "allocation", from_project: "shared", amount: 0.4 },
      "search",
    );
    expect(body).toMatchObject({ amount_usd: 0.4, cost_status: "client" });
    const summary = (await client.get("/api/v1/summary/month")).body;
    expect(summary).toMatchObject({
      total_usd: 1,
      usage_usd: 1,
      by_project: { shared: 0.6, search: 0.4 },
      message_count: 2,
    });
    expect((await record(client, expense(0.5))).status).toBe(201);
  });

  test("Moves at most what its source has spent in the month and environment, earlier allocations included", async () => {
    const client = await newClient();
    const { secret } = await harness.fixtures.key(client.workspace, { environment: "test" });
    const trial = { ...client, ...apiClient(harness.services[0]?.baseUrl ?? "", secret) };
    await record(client, expense(1), "shared");
    await record(client, { ...expense(50), occurred_at: "2026-01-31T23:59:59Z" }, "shared");
    await record(trial, expense(500), "shared");
    const move = (amount: number, more = {}, by = client) =>
      record(by, { type: "allocation", from_project: "shared", amount, ...more }, "search");
    const month = new Date().toISOString().slice(0, 7);
    expect((await move(1.000000000000001)).body).toMatchObject({
      error: "validation_failed",
      issues: [
        {
          path: "message.amount",
          message: `must move no more than from_project has spent in ${month} (UTC)`,
        },
      ],
    });
    expect((await move(0.75)).status).toBe(201);
    expect((await move(0.2500000000000001)).status).toBe(400);
    expect((await move(0.25)).status).toBe(201);
    expect((await move(1e-18)).status).toBe(400);
    const january = { occurred_at: "2026-01-15T00:00:00Z" };
    expect((await move(50.01, january)).status).toBe(400);
    expect((await move(50, january)).status).toBe(201);
    expect((await move(500.01, {}, trial)).status).toBe(400);
    expect((await move(500, {}, trial)).status).toBe(201);
    expect((await client.get("/api/v1/summary/month")).body).toMatchObject({
      total_usd: 1,
      by_project: { shared: 0, search: 1 },
    });
  });

  test("Moves by percent at most what the month has left, even when the day has more", async () => {
    const client = await newClient();
    await record(client, { ...expense(10), occurred_at: "2026-01-10T00:00:00Z" }, "shared");
    const move = (fields: object) =>
      record(client, { type: "allocation", from_project: "shared", ...fields }, "search");
    expect((await move({ amount: 8, occurred_at: "2026-01-20T00:00:00Z" })).status).toBe(201);
    // By the 10th all 10 were there; what was moved on the 20th is gone all the same.
    const refused = await move({ percent: 50, occurred_at: "2026-01-10T12:00:00Z" });
    expect([refused.status, refused.body.issues]).toMatchObject([400, [{ path: "message.percent" }]]);
    expect((await move({ percent: 20, occurred_at: "2026-01-10T12:00:00Z" })).body.amount_usd).toBe(2);
  });

  test.each([1, 2, 3, 4, 5])(
    "Moves exactly what there is when sixteen are sent at once (round %i)",
    async () => {
      const client = await newClient();
      await record(client, expense(1), "shared");
      const { secret } = await harness.fixtures.key(client.workspace);
      const answers = await Promise.all(
        Array.from({ length: 16 }, (_, index) =>
          apiClient(harness.services[index % 2]?.baseUrl ?? "", secret).post({
            project: `p${index}`,
            source: "api",
            message: { type: "allocation", from_project: "shared", amount: 0.3 },
          }),
        ),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([
        ...Array(3).fill(201),
        ...Array(13).fill(400),
      ]);
      expect(await spendOf(client, "shared")).toMatchObject({ total_usd: 0.1 });
    },
  );

  test("Reveals nothing of its source's spend to a key without read_summaries", async () => {
    const reader = await newClient();
    await record(reader, expense(7.77), "shared");
    const { secret } = await harness.fixtures.key(reader.workspace, { permissions: ["log_usage"] });
    const writer = apiClient(harness.services[0]?.baseUrl ?? "", secret);
    const post = (fields: object, query = "", outer = {}) =>
      writer.post(
        {
          project: "search",
          source: "api",
          message: { type: "allocation", from_project: "shared", ...fields },
          ...outer,
        },
        {},
        query,
      );
    const denied = { error: "permission_denied", permission: "read_summaries" };
    expect((await post({ percent: 10 })).body).toMatchObject(denied);
    expect((await post({ percent: 10 }, "?dry_run=true")).body).toMatchObject(denied);
    // A trial would tell by halving, and leave no trace.
    expect((await post({ amount: 4 }, "?dry_run=true")).body).toMatchObject(denied);
    const bulk = await writer.call("POST", "/api/v1/messages/batch?dry_run=true", {
      messages: [
        {
          project: "search",
          source: "api",
          message: { type: "allocation", from_project: "shared", amount: 4 },
        },
      ],
    });
    expect((bulk.body.results as unknown[])[0]).toMatchObject(denied);
    const once = { project: "search", source: "api", idempotency_key: "percent" };
    const message = { type: "allocation", from_project: "shared", percent: 10 };
    expect((await reader.post({ ...once, message })).body.amount_usd).toBe(0.777);
    // Nor does the answer that somebody else was given.
    expect((await writer.post({ ...once, message })).body).toMatchObject(denied);
    const refused = await post({ amount: 100 });
    expect(refused.status).toBe(400);
    expect(JSON.stringify(refused.body)).not.toMatch(/6\.99|7\.77/);
    expect((await post({ amount: 1 })).status).toBe(201);
  });

  test("Computes a percentage of what the source has spent so far this month", async () => {
    const client = await newClient();
    for (const cost of [0.1, 0.2]) {
      await record(
        client,
        { type: "usage", provider: "p", unit_type: "requests", quantity: 1, estimated_cost: cost },
        "shared",
      );
    }
    const { body } = await record(
      client,
      { type: "allocation", from_project: "shared", percent: 33.3 },
      "search",
    );
    expect(body.amount_usd).toBe(0.0999);
    expect((await client.get("/api/v1/summary/month")).body.by_project).toEqual({
      shared: 0.2001,
      search: 0.0999,
    });
  });

  test.each([
    [{ from_project: "nowhere", amount: 1 }, "message.from_project"],
    [{ from_project: "search", amount: 1 }, "message.from_project"],
    [{ from_project: "shared", amount: 1, percent: 1 }, "message.amount"],
    [{ from_project: "shared" }, "message.amount"],
    [{ from_project: "shared", percent: 101 }, "message.percent"],
    [{ from_project: "empty", percent: 10 }, "message.percent"],
  ])("Of %j is refused, naming %s", async (fields, path) => {
    const client = await newClient();
    for (const project of ["shared", "search"]) {
      await record(
        client,
        { type: "usage", provider: "p", unit_type: "requests", quantity: 1, estimated_cost: 1 },
        project,
      );
    }
    await record(
      client,
      { type: "usage", provider: "p", unit_type: "requests", quantity: 1, estimated_cost: 0 },
      "empty",
    );
    const { status, body } = await record(client, { type: "allocation", ...fields }, "search");
    expect(status).toBe(400);
    expect(body.issues).toEqual([{ path, message: expect.any(String) }]);
  });

  test("Requires both projects in the key's scope", async () => {
    const client = await newClient({ conditions: { project_slugs: ["search"] } });
    const { status, body } = await record(
      client,
      { type: "allocation", from_project: "shared", amount: 1 },
      "search",
    );
    expect([status, body.error, body.project]).toEqual([403, "project_not_allowed", "shared"]);
  });
});

describe("Idempotency", () => {
  test("Gives a retry the first answer and records once, with the key in body or header", async () => {
    const client = await newClient();
    const key = randomUUID();
    const first = await client.post(costMessage({}, { idempotency_key: key }));
    const again = await client.post(costMessage(), { "idempotency-key": key });
    expect(first.headers.get("idempotent-replayed")).toBeNull();
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expect([again.status, again.body]).toEqual([201, first.body]);
    expect((await client.get("/api/v1/summary/month")).body.message_count).toBe(1);
  });

  test("Refuses a different message under the same key and names the differing fields", async () => {
    const client = await newClient();
    await client.post(costMessage({}, { idempotency_key: "k" }));
    const { status, body } = await client.post(
      costMessage({ quantity: 2, model: "gpt-4.1" }, { idempotency_key: "k" }),
    );
    expect([status, body.error]).toEqual([409, "idempotency_conflict"]);
    expect(body.differing_fields).toEqual(["message.model", "message.quantity"]);
  });

  test("Is per workspace, and does not remember refused requests", async () => {
    const client = await newClient({ monthly_limit: "0.01" });
    expect((await client.post(costMessage({ estimated_cost: 1 }, { idempotency_key: "k" }))).status).toBe(
      402,
    );
    expect((await client.post(costMessage({}, { idempotency_key: "k" }))).status).toBe(201);
    expect(
      (await (await newClient()).post(costMessage({ quantity: 9 }, { idempotency_key: "k" }))).status,
    ).toBe(201);
  });

  test("Is per environment", async () => {
    const live = await newClient();
    const { secret } = await harness.fixtures.key(live.workspace, { environment: "test" });
    const trial = apiClient(harness.services[0]?.baseUrl ?? "", secret);
    const tested = await trial.post(costMessage({ estimated_cost: 5 }, { idempotency_key: "order-1" }));
    expect(tested.status).toBe(201);
    const recorded = await live.post(costMessage({}, { idempotency_key: "order-1" }));
    expect([recorded.status, recorded.headers.get("idempotent-replayed")]).toEqual([201, null]);
    for (const [client, first] of [
      [live, recorded],
      [trial, tested],
    ] as const) {
      const cost = client === live ? 0.01 : 5;
      const again = await client.post(costMessage({ estimated_cost: cost }, { idempotency_key: "order-1" }));
      expect([again.body, again.headers.get("idempotent-replayed")]).toEqual([first.body, "true"]);
      const other = await client.post(costMessage({ estimated_cost: 9 }, { idempotency_key: "order-1" }));
      expect([other.status, other.body.differing_fields]).toEqual([409, ["message.estimated_cost"]]);
    }
    // The very same message, too, is recorded in each of the two.
    const same = costMessage({}, { idempotency_key: "order-2" });
    const both = [await trial.post(same), await live.post(same)];
    expect(both.map(({ headers }) => headers.get("idempotent-replayed"))).toEqual([null, null]);
    expect(both[0]?.body.id).not.toBe(both[1]?.body.id);
  });

  test("Replays at a used-up limit, which a retry does not consume", async () => {
    const client = await newClient({ monthly_limit: "0.01" });
    await client.post(costMessage({}, { idempotency_key: "k" }));
    expect((await client.post(costMessage({}, { idempotency_key: "k" }))).status).toBe(201);
  });
});

describe("A bulk call", () => {
  const bulk = (client: Client, messages: unknown[], query = ""): Promise<Answer> =>
    client.call("POST", `/api/v1/messages/batch${query}`, { messages });

  test("Answers each item in order, and items fail alone", async () => {
    const client = await newClient({ monthly_limit: "0.03", rate_limit_rpm: 5 });
    await client.post(costMessage({}, { idempotency_key: "stored" }));
    const { status, headers, body } = await bulk(client, [
      costMessage(),
      costMessage({ quantity: -1 }),
      costMessage({}, { idempotency_key: "stored" }),
      costMessage({ quantity: 2 }, { idempotency_key: "stored" }),
      "nonsense",
      costMessage({}, { idempotency_key: "twice" }),
      costMessage({}, { idempotency_key: "twice" }),
      costMessage(),
    ]);
    expect(status).toBe(207);
    expect(headers.get("ratelimit")).toMatch(/^"key";r=3;/);
    const results = body.results as { status: number; error?: string; replayed?: boolean; index: number }[];
    expect(
      results.map(({ status, error, replayed }) => error ?? `${status}${replayed ? " replayed" : ""}`),
    ).toEqual([
      "201",
      "validation_failed",
      "201 replayed",
      "idempotency_conflict",
      "validation_failed",
      "201",
      "201 replayed",
      "monthly_limit_exceeded",
    ]);
    expect(results.map(({ index }) => index)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(body).toMatchObject({ recorded: 4, refused: 4 });
    expect((await client.get("/api/v1/summary/month")).body.message_count).toBe(3);
  });

  test("Writes a thousand at once and refuses more, or none", async () => {
    const client = await newClient();
    const answer = await bulk(
      client,
      Array.from({ length: 1000 }, () => costMessage()),
    );
    expect(answer.body).toMatchObject({ recorded: 1000, refused: 0 });
    expect((await client.get("/api/v1/summary/month")).body).toMatchObject({
      total_usd: 10,
      message_count: 1000,
    });
    expect(
      (
        await bulk(
          client,
          Array.from({ length: 1001 }, () => costMessage()),
        )
      ).status,
    ).toBe(400);
    expect((await bulk(client, [])).status).toBe(400);
  });

  test("Answers a dry run's items as a real call would: limits, retries, projects, allocations", async () => {
    const now = new Date();
    const lastMonth = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1, 1));
    const starts_on = lastMonth.toISOString().slice(0, 10);
    const recurring = { type: "subscription", vendor: "v", amount: 1, recurring: true, starts_on };
    const message = (of: object, project = "fresh", outer = {}) => ({
      ...{ project, source: "api", message: of },
      ...outer,
    });
    const move = { type: "allocation", from_project: "fresh" };
    const messages = [
      message({ ...move, amount: 1 }, "search"),
      message(expense(2), "fresh", { idempotency_key: "a" }),
      message(expense(2), "fresh", { idempotency_key: "a" }),
      message(expense(3), "fresh", { idempotency_key: "a" }),
      message({ ...move, percent: 50 }, "search"),
      message({ ...move, amount: 1.01 }, "search"),
      message({ ...move, amount: 1 }, "search"),
      message({ ...move, from_project: "search", amount: 2 }, "fresh"),
      message(recurring),
      message(expense(2.01)),
      message(expense(2)),
      message(expense(0.000001)),
    ];
    const client = await newClient({ monthly_limit: "6" });
    const twin = await newClient({ monthly_limit: "6" });
    const trial = await bulk(client, messages, "?dry_run=true");
    expect((await client.get("/api/v1/summary/month")).body).toMatchObject({
      message_count: 0,
      by_project: {},
    });
    const verdicts = ({ body }: Answer): Record<string, unknown>[] =>
      (body.results as Record<string, unknown>[]).map(
        ({ id: _, project_id: __, created_at: ___, dry_run: ____, due_periods: due, ...rest }) => ({
          ...rest,
          due: (due as { starts_on: string }[] | undefined)?.map((period) => period.starts_on),
        }),
      );
    // In a workspace just like it, and then in this one: nothing of the trial is left to be in the way.
    expect(verdicts(trial)).toEqual(verdicts(await bulk(twin, messages)));
    const [, , replay, conflict] = verdicts(trial);
    expect([replay?.replayed, conflict?.error]).toEqual([true, "idempotency_conflict"]);
    const codes = verdicts(trial).map(({ error, status }) => error ?? status);
    expect(codes.slice(-4)).toEqual([201, "monthly_limit_exceeded", 201, "monthly_limit_exceeded"]);
    expect(verdicts(await bulk(client, messages))).toEqual(verdicts(trial));
    for (const result of trial.body.results as Record<string, unknown>[]) {
      if (result.status === 201) expect(result.dry_run).toBe(true);
    }
  });
});

describe("Environments", () => {
  test("Keep a test key's spend and a live key's apart", async () => {
    const live = await newClient();
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
