import { beforeAll, describe, expect, test } from "vitest";
import { sql } from "@/lib/db/sql";
import { differingPostings } from "@/lib/ledger/reconcile/messages-sql";
import { bulk, makeActivityWorkspace, rowsOf } from "@/tests/helpers/activity";
import { ledgerDifferences } from "@/tests/helpers/harness";
import { withSharedHarness } from "@/tests/helpers/shared-harness";

const harness = withSharedHarness();

const lines = [
  { unit_type: "input_tokens", quantity: 200 },
  { unit_type: "cache_read_tokens", quantity: 1000 },
  { unit_type: "output_tokens", quantity: 34 },
];
const call = (message: object = {}, outer: object = {}) => ({
  project: "checkout",
  source: "api",
  message: { type: "usage", provider: "openai", model: "gpt-4o", feature: "chat", lines, ...message },
  ...outer,
});

/** At gpt-4o's 2.50, 1.25 and 10 USD for a million tokens. */
const amount = 0.00209;

describe("A usage with lines", () => {
  let team: Awaited<ReturnType<typeof makeActivityWorkspace>>;
  let id: string;
  beforeAll(async () => {
    team = await makeActivityWorkspace(harness);
    const unpriced = { unit_type: "unheard_of", quantity: 3 };
    [id = ""] = await bulk(team.key, [
      call({}, { idempotency_key: "call-1" }),
      call({ feature: "other", lines: [...lines, unpriced], occurred_at: "2026-02-03T00:00:00Z" }),
    ]);
  });

  test("Is one message with one amount, priced by line", async () => {
    const { status, body } = await team.key.post(call({}, { idempotency_key: "call-2" }));
    expect(status).toBe(201);
    expect(body).toMatchObject({ amount_usd: amount, cost_status: "priced" });
    const again = await team.key.post(call({}, { idempotency_key: "call-2" }));
    expect(again.body.id).toBe(body.id);
    const other = await team.key.post(call({ lines: lines.slice(1) }, { idempotency_key: "call-2" }));
    expect(other.status).toBe(409);
    const { rows } = await harness.fixtures.sql.query(
      "select part, unit_type, quantity::float, amount_usd::float from public.messages where id = $1 order by part",
      [body.id],
    );
    expect(rows).toEqual([
      { part: 0, unit_type: "input_tokens", quantity: 200, amount_usd: 0.0005 },
      { part: 1, unit_type: "cache_read_tokens", quantity: 1000, amount_usd: 0.00125 },
      { part: 2, unit_type: "output_tokens", quantity: 34, amount_usd: 0.00034 },
    ]);
  });

  test("Takes any quantity above 0, also parts of a token, which only telemetry is refused for", async () => {
    const parts = [
      { unit_type: "audio_minutes", quantity: 10.5 },
      { unit_type: "input_tokens", quantity: 10.5 },
    ];
    const other = await makeActivityWorkspace(harness);
    expect((await other.key.post(call({ lines: parts }))).status).toBe(201);
  });

  test("Is one row of activity, and its lines are in its details", async () => {
    const [row] = rowsOf(await team.activity("feature=chat&period=all")).filter((one) => one.id === id);
    expect(row).toMatchObject({
      part: 0,
      amount_usd: amount,
      message_type: "usage",
      model: "gpt-4o",
      unit_type: null,
      quantity: null,
      line_count: 3,
      label: "gpt-4o · 3 lines",
    });
    const { body } = await team.viewer.get(`/api/v1/workspaces/${team.slug}/messages/${id}`);
    expect(body).toMatchObject({
      amount_usd: amount,
      model: "gpt-4o",
      unit_type: null,
      idempotency_key: "call-1",
    });
    expect(body.entries).toHaveLength(1);
    expect(body.lines).toMatchObject(
      [0.0005, 0.00125, 0.00034].map((usd, index) => ({ ...lines[index], amount_usd: usd })),
    );
  });

  test("Is found by the status of any of its lines", async () => {
    const rows = rowsOf(await team.activity("cost_status=unpriced&period=all"));
    expect(rows).toMatchObject([
      { feature: "other", amount_usd: 0, message_amount_usd: amount, line_count: 1 },
    ]);
  });

  test("Counts once, and every sum agrees", async () => {
    const other = await makeActivityWorkspace(harness);
    await bulk(other.key, [call(), call()]);
    const { body } = await other.key.get("/api/v1/summary/month");
    expect(body).toMatchObject({ message_count: 2, usage_usd: 2 * amount });
    const spend = await other.key.get("/api/v1/projects/checkout/spend");
    expect(spend.body.rows).toMatchObject([
      { amount_usd: amount, model: "gpt-4o", unit_type: null },
      { amount_usd: amount, model: "gpt-4o", unit_type: null },
    ]);
    expect(await ledgerDifferences(harness.fixtures)).toEqual([]);
    const differing = sql`${differingPostings(null)}`;
    expect((await harness.fixtures.sql.query(differing.text, differing.values)).rows).toEqual([]);
  });

  test("Is found by reconcile where a line is lost", async () => {
    const [lost] = await bulk(team.key, [call()]);
    await harness.fixtures.sql.query("delete from public.messages where id = $1 and part = 2", [lost]);
    const differing = sql`${differingPostings(null)}`;
    const { rows } = await harness.fixtures.sql.query(differing.text, differing.values);
    expect(rows).toMatchObject([{ id: lost, stored_parts: "2", actual_parts: "3" }]);
    await harness.fixtures.sql.query("delete from public.messages where id = $1", [lost]);
  });

  test("Is exported as its lines", async () => {
    const response = await fetch(
      `${harness.services[0]?.baseUrl}/api/v1/workspaces/${team.slug}/export?format=csv&period=all&feature=other`,
      { headers: { authorization: `Bearer ${(await makeReader()).token}` } },
    );
    const text = await response.text();
    expect(text.trim().split("\n")).toHaveLength(5);
    expect(text).toContain("cache_read_tokens");
  });

  const makeReader = async () => {
    const { addUser } = await import("@/tests/helpers/team");
    return addUser(harness, team.id, "viewer");
  };

  test("Counts whole against the key's limit", async () => {
    const { secret } = await harness.fixtures.key(team.id, { monthly_limit: "0.002" });
    const response = await fetch(`${harness.services[0]?.baseUrl}/api/v1/messages`, {
      method: "POST",
      headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
      body: JSON.stringify(call()),
    });
    expect(response.status).toBe(402);
  });
});
