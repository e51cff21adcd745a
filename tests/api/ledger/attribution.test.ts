import { describe, expect, test } from "vitest";
import { generateSecret } from "@/lib/access/secrets/secret";
import { costMessage } from "@/tests/helpers/client";
import { ledgerDifferences } from "@/tests/helpers/harness";
import { readCapture } from "@/tests/helpers/otlp";
import { makeSource } from "@/tests/helpers/otlp-source";
import { expense, newClient, record } from "@/tests/helpers/recording";
import { withSharedHarness } from "@/tests/helpers/shared-harness";

const harness = withSharedHarness();
const rows = async (text: string, values: unknown[]) => (await harness.fixtures.sql.query(text, values)).rows;

const stored = (workspace: string) =>
  rows(
    `select type, part, end_user, session, tags, emitter, amount_usd::float as amount, cost_status as status,
       list_price_usd::float as list_price, given_cost_usd::float as given
     from public.messages where workspace_id = $1 order by created_at, id, part`,
    [workspace],
  );
const totals = async (workspace: string, dimension: string) =>
  Object.fromEntries(
    (
      await rows(
        `select value, sum(amount_usd)::float as amount from public.daily_totals
         where workspace_id = $1 and dimension = $2 group by 1 order by 1`,
        [workspace, dimension],
      )
    ).map(({ value, amount }) => [value, amount]),
  );

const person = { user: "anna@example.com", session: "s-1" };
const tagged = { tags: { team: "growth", cost_center: "4711" } };

describe("People, sessions and tags", () => {
  test("Are kept with usage, and summed by person and by tag", async () => {
    const client = await newClient(harness);
    const bulk = [
      costMessage({ ...person, ...tagged }),
      costMessage({ user: "bo", tags: { team: "growth" } }),
      costMessage({}),
    ];
    const { body } = await client.call("POST", "/api/v1/messages/batch", { messages: bulk });
    expect(body).toMatchObject({ recorded: 3 });
    const none = { end_user: null, session: null, tags: null, emitter: null };
    expect(await stored(client.workspace)).toMatchObject([
      { end_user: "anna@example.com", session: "s-1", tags: ["cost_center:4711", "team:growth"] },
      { end_user: "bo", session: null, tags: ["team:growth"] },
      none,
    ]);
    expect(await totals(client.workspace, "user")).toEqual({ "anna@example.com": 0.01, bo: 0.01 });
    expect(await totals(client.workspace, "tag")).toEqual({ "cost_center:4711": 0.01, "team:growth": 0.02 });
    expect(await ledgerDifferences(harness.fixtures, client.workspace)).toEqual([]);
  });

  test("Are those of each line of a batch, and of all lines of a usage", async () => {
    const client = await newClient(harness);
    const line = { model: "m", unit_type: "requests", quantity: 1, estimated_cost: 1 };
    await record(client, {
      ...{ type: "batch", provider: "p", batch_id: "b", ...tagged },
      items: [{ ...line, ...person }, { ...line, user: "bo" }, line],
    });
    await record(client, {
      ...{ type: "usage", provider: "p", ...person, ...tagged },
      lines: [
        { unit_type: "input_tokens", quantity: 1, estimated_cost: 2 },
        { unit_type: "output_tokens", quantity: 1, estimated_cost: 3 },
      ],
    });
    expect((await stored(client.workspace)).map(({ end_user, session }) => [end_user, session])).toEqual([
      ["anna@example.com", "s-1"],
      ["bo", null],
      [null, null],
      ["anna@example.com", "s-1"],
      ["anna@example.com", "s-1"],
    ]);
    expect(await totals(client.workspace, "user")).toEqual({ "anna@example.com": 6, bo: 1 });
    expect(await totals(client.workspace, "tag")).toEqual({ "cost_center:4711": 8, "team:growth": 8 });
    expect(await ledgerDifferences(harness.fixtures, client.workspace)).toEqual([]);
  });

  test("Every type of message takes tags, every period of a charge has them", async () => {
    const client = await newClient(harness);
    await record(client, { ...expense(1), ...tagged });
    const year = { type: "subscription", vendor: "v", amount: 12, interval: "year", ...tagged };
    await record(client, { ...year, starts_on: "2026-01-01" });
    const start = new Date(Date.now() - 40 * 86_400_000).toISOString().slice(0, 10);
    const recurring = { type: "subscription", vendor: "v", amount: 1, recurring: true, starts_on: start };
    expect((await record(client, { ...recurring, ...tagged })).body.due_periods).toHaveLength(1);
    const moved = { type: "allocation", from_project: "checkout", amount: 0.5, ...tagged };
    expect((await record(client, moved, "search")).status).toBe(201);
    expect(new Set((await stored(client.workspace)).map(({ tags }) => String(tags)))).toEqual(
      new Set(["cost_center:4711,team:growth"]),
    );
    // An allocation moves cost between projects, not between tags.
    expect(await totals(client.workspace, "tag")).toEqual({ "cost_center:4711": 15, "team:growth": 15 });
    expect(await ledgerDifferences(harness.fixtures, client.workspace)).toEqual([]);
  });

  test("Take the longest names together, in one row of the sums each", async () => {
    const client = await newClient(harness);
    const long = {
      user: "ü".repeat(255),
      model: "€".repeat(128),
      feature: "€".repeat(128),
      tags: Object.fromEntries(
        Array.from({ length: 10 }, (_, index) => [`${index}`.padEnd(64, "n"), "€".repeat(128)]),
      ),
    };
    for (const _ of [1, 2]) expect((await client.post(costMessage(long))).status).toBe(201);
    expect(
      await rows("select message_count::int as messages from public.daily_spend where workspace_id = $1", [
        client.workspace,
      ]),
    ).toEqual([{ messages: 2 }]);
  });

  test("Are part of what an idempotency key stands for", async () => {
    const client = await newClient(harness);
    const keyed = { idempotency_key: "k" };
    await client.post(costMessage(person, keyed));
    const { status, headers } = await client.post(costMessage(person, keyed));
    expect([status, headers.get("idempotent-replayed")]).toEqual([201, "true"]);
    const other = await client.post(costMessage({ ...person, user: "bo" }, keyed));
    expect(other).toMatchObject({ status: 409, body: { differing_fields: ["message.user"] } });
  });
});

describe("Usage that a subscription covers", () => {
  test("Costs nothing, and has its list price beside it", async () => {
    const client = await newClient(harness);
    const covered = { included: true, estimated_cost: undefined, quantity: 1000 };
    const { status, body } = await client.post(costMessage(covered));
    expect(status).toBe(201);
    expect(body).toMatchObject({ amount_usd: 0, cost_status: "included", list_price_usd: 0.0025 });
    const given = await client.post(costMessage({ included: true, estimated_cost: 0.7 }));
    expect(given.body).toMatchObject({ amount_usd: 0, cost_status: "included", list_price_usd: 0.7 });
    const unknown = await client.post(costMessage({ ...covered, model: "gpt-nobody-knows" }));
    expect(unknown.body).toMatchObject({ amount_usd: 0, cost_status: "included", list_price_usd: null });
    const summary = await client.get("/api/v1/summary/month");
    expect(summary.body).toMatchObject({
      total_usd: 0,
      included_usd: 0.7025,
      message_count: 3,
      unpriced_count: 0,
    });
    expect(await ledgerDifferences(harness.fixtures, client.workspace)).toEqual([]);
  });

  test("Has one list price for a call of several lines", async () => {
    const client = await newClient(harness);
    const { body } = await record(client, {
      ...{ type: "usage", provider: "openai", model: "gpt-4o", included: true },
      lines: [
        { unit_type: "input_tokens", quantity: 1000 },
        { unit_type: "output_tokens", quantity: 100 },
        { unit_type: "hugs", quantity: 1 },
      ],
    });
    expect(body).toMatchObject({ amount_usd: 0, cost_status: "included", list_price_usd: 0.0035 });
  });

  test("Is answered the same again to the same idempotency key", async () => {
    const client = await newClient(harness);
    const message = costMessage({ included: true, estimated_cost: 0.7 }, { idempotency_key: "k" });
    const first = await client.post(message);
    const second = await client.post(message);
    expect(second.body).toEqual(first.body);
  });

  test("Leaves a key's monthly limit as it is", async () => {
    const client = await newClient(harness, { monthly_limit: "1" });
    for (const cost of [5, 5])
      expect((await client.post(costMessage({ included: true, estimated_cost: cost }))).status).toBe(201);
    expect((await client.post(costMessage({ estimated_cost: 1 }))).status).toBe(201);
  });
});

describe("What an emitter tells", () => {
  const logs = readCapture("claude-code-logs");

  test("Is kept with who, the session, tags, the emitter and its own cost, once with the call", async () => {
    const source = await makeSource(harness);
    await source.accept(logs);
    const postings = await stored(source.workspace);
    expect(postings.length).toBeGreaterThan(2);
    for (const { emitter, end_user, session, tags, part, given, status } of postings) {
      expect([emitter, tags, status]).toEqual(["claude-code", ["team:growth"], "priced"]);
      expect([typeof end_user, typeof session]).toEqual(["string", "string"]);
      expect(given === null, `the emitter's cost of part ${part}`).toBe(part !== 0);
    }
    expect(await ledgerDifferences(harness.fixtures, source.workspace)).toEqual([]);
  });

  test.each([
    ["a key of ours", generateSecret()],
    ["a key of a provider", `sk-ant-api03-${"x".repeat(24)}`],
    ["a token", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln"],
    ["an authorization header", "Bearer abcdefghijklmnop"],
    ["two lines", "anna\nbo"],
    ["more than 255 characters", "u".repeat(256)],
  ])("Is recorded without a user that is %s, and the answer says so", async (_, user) => {
    const source = await makeSource(harness);
    const text = JSON.stringify(logs.body).replaceAll(
      /\{"key":"user\.id","value":\{"stringValue":"[^"]*"\}\}/g,
      JSON.stringify({ key: "user.id", value: { stringValue: user } }),
    );
    expect(text).toContain(JSON.stringify(user));
    const response = await source.accept({ signal: "logs", body: JSON.parse(text) });
    const { partialSuccess } = await response.json();
    expect(partialSuccess.errorMessage).toContain("without the user: ");
    expect(partialSuccess.errorMessage).not.toContain(user);
    expect(partialSuccess.rejectedLogRecords ?? 0).toBe(0);
    const postings = await stored(source.workspace);
    expect(postings.length).toBeGreaterThan(2);
    expect(new Set(postings.map(({ end_user }) => end_user))).toEqual(new Set([null]));
  });
});
