import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { type Answer, apiClient, costMessage } from "@/tests/helpers/client";
import { ledgerDifferences } from "@/tests/helpers/harness";
import { type Client, expense, newClient } from "@/tests/helpers/recording";
import { withSharedHarness } from "@/tests/helpers/shared-harness";

const harness = withSharedHarness({ services: 2 });

describe("Idempotency", () => {
  test("Gives a retry the first answer and records once, with the key in body or header", async () => {
    const client = await newClient(harness);
    const key = randomUUID();
    const first = await client.post(costMessage({}, { idempotency_key: key }));
    const again = await client.post(costMessage(), { "idempotency-key": key });
    expect(first.headers.get("idempotent-replayed")).toBeNull();
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expect([again.status, again.body]).toEqual([201, first.body]);
    expect((await client.get("/api/v1/summary/month")).body.message_count).toBe(1);
  });

  test("Refuses a different message under the same key and names the differing fields", async () => {
    const client = await newClient(harness);
    await client.post(costMessage({}, { idempotency_key: "k" }));
    const { status, body } = await client.post(
      costMessage({ quantity: 2, model: "gpt-4.1" }, { idempotency_key: "k" }),
    );
    expect([status, body.error]).toEqual([409, "idempotency_conflict"]);
    expect(body.differing_fields).toEqual(["message.model", "message.quantity"]);
  });

  test("Refuses the names that telemetry uses, but for ids of a provider", async () => {
    const client = await newClient(harness);
    for (const key of [
      "otel:hour:0:1",
      "otel:inside:a/b",
      "otel:point:a",
      "otel:span:a/b",
      "otel:record:a",
    ]) {
      const inBody = await client.post(costMessage({}, { idempotency_key: key }));
      const inHeader = await client.post(costMessage(), { "Idempotency-Key": key });
      expect([inBody.status, inBody.body.issues]).toEqual([
        400,
        [{ path: "idempotency_key", message: "must not begin with otel:, which telemetry uses" }],
      ]);
      expect(inHeader.status).toBe(400);
    }
    const id = { idempotency_key: "otel:response:msg_01C9f2Kq7Lw1Zp4Xs8Vb" };
    expect((await client.post(costMessage({}, id))).status).toBe(201);
  });

  test("Is per workspace, and does not remember refused requests", async () => {
    const client = await newClient(harness, { monthly_limit: "0.01" });
    expect((await client.post(costMessage({ estimated_cost: 1 }, { idempotency_key: "k" }))).status).toBe(
      402,
    );
    expect((await client.post(costMessage({}, { idempotency_key: "k" }))).status).toBe(201);
    expect(
      (await (await newClient(harness)).post(costMessage({ quantity: 9 }, { idempotency_key: "k" }))).status,
    ).toBe(201);
  });

  test("Is per environment", async () => {
    const live = await newClient(harness);
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
    // An identical message is also recorded in each of the two.
    const same = costMessage({}, { idempotency_key: "order-2" });
    const both = [await trial.post(same), await live.post(same)];
    expect(both.map(({ headers }) => headers.get("idempotent-replayed"))).toEqual([null, null]);
    expect(both[0]?.body.id).not.toBe(both[1]?.body.id);
  });

  test("Replays at a used-up limit, which a retry does not consume", async () => {
    const client = await newClient(harness, { monthly_limit: "0.01" });
    await client.post(costMessage({}, { idempotency_key: "k" }));
    expect((await client.post(costMessage({}, { idempotency_key: "k" }))).status).toBe(201);
  });
});

describe("A bulk call", () => {
  const bulk = (client: Client, messages: unknown[], query = ""): Promise<Answer> =>
    client.call("POST", `/api/v1/messages/batch${query}`, { messages });

  test("Answers each item in order, and items fail alone", async () => {
    const client = await newClient(harness, { monthly_limit: "0.03", rate_limit_rpm: 5 });
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
    const client = await newClient(harness);
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
    const client = await newClient(harness, { monthly_limit: "6" });
    const twin = await newClient(harness, { monthly_limit: "6" });
    const trial = await bulk(client, messages, "?dry_run=true");
    expect((await client.get("/api/v1/summary/month")).body).toMatchObject({
      message_count: 0,
      by_project: {},
    });
    const verdicts = ({ body }: Answer): Record<string, unknown>[] =>
      (body.results as Record<string, unknown>[]).map(
        ({
          id: _,
          project_id: __,
          created_at: ___,
          dry_run: ____,
          how_to_ask: _____,
          due_periods: due,
          ...rest
        }) => ({
          ...rest,
          due: (due as { starts_on: string }[] | undefined)?.map((period) => period.starts_on),
        }),
      );
    // First in a workspace of the same state, then in this one: the dry run left nothing behind.
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

test("Keeps every derived figure equal to the sum of its messages", async () => {
  expect(await ledgerDifferences(harness.fixtures)).toEqual([]);
});
