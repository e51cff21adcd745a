import { beforeAll, describe, expect, test } from "vitest";
import { bulk, makeActivityWorkspace, rowsOf } from "@/tests/helpers/activity";
import { costMessage } from "@/tests/helpers/client";
import { withSharedHarness } from "@/tests/helpers/shared-harness";

const harness = withSharedHarness();

describe("A row of activity", () => {
  let team: Awaited<ReturnType<typeof makeActivityWorkspace>>;
  let ids: string[];
  beforeAll(async () => {
    team = await makeActivityWorkspace(harness);
    const line = { unit_type: "input_tokens", quantity: 1000 };
    ids = await bulk(team.key, [
      costMessage({ quantity: 1_234_567, feature: "chat" }, { idempotency_key: "order-1042" }),
      costMessage({ label: "Nightly 100%_run", occurred_at: "2026-01-05T00:00:00.123456Z" }),
      {
        project: "checkout",
        source: "api",
        message: {
          type: "batch",
          provider: "openai",
          batch_id: "b-7",
          items: [
            { ...line, model: "gpt-4o", feature: "chat", estimated_cost: 0.25 },
            { ...line, model: "gpt-4o", feature: "search", estimated_cost: 0.5 },
            { ...line, model: "unheard-of", feature: "search" },
          ],
        },
      },
      {
        project: "office",
        source: "import",
        message: {
          type: "expense",
          vendor: "Figma",
          amount: 100,
          currency: "EUR",
          category: "design",
          notes: "Invoice 12",
        },
      },
      {
        project: "office",
        source: "api",
        message: { type: "allocation", from_project: "checkout", amount: 0.2 },
      },
      {
        project: "office",
        source: "api",
        message: {
          type: "subscription",
          vendor: "Linear",
          amount: 120,
          interval: "year",
          plan: "Team",
          starts_on: "2026-01-31",
        },
      },
    ]);
  });
  const one = async (query: string) => {
    const rows = rowsOf(await team.activity(query));
    expect(rows).toHaveLength(1);
    return rows[0] ?? {};
  };

  test("Has the specification's fields, and always a label", async () => {
    const body = await team.activity();
    expect(body).toMatchObject({ period: "month", count: rowsOf(body).length, next_cursor: null });
    const row = await one("type=usage&period=month");
    expect(row).toMatchObject({
      id: ids[0],
      part: 0,
      amount_usd: 0.01,
      message_type: "usage",
      project_slug: "checkout",
      project_name: "checkout",
      environment: "live",
      feature: "chat",
      source: "api",
      label: "gpt-4o · 1,234,567 input tokens",
      key: { id: team.keyId, name: "Test key" },
      user: null,
    });
    expect((await one("type=expense")).label).toBe("Figma · design");
    expect(
      rowsOf(await team.activity("type=allocation")).map(({ label, amount_usd }) => [label, amount_usd]),
    ).toEqual([
      ["To another project", -0.2],
      ["From checkout", 0.2],
    ]);
    const year = rowsOf(await team.activity("type=subscription&period=all"));
    expect(year.map(({ label }) => label)).toEqual(
      Array.from({ length: 12 }, (_, index) => `Linear · Team · month ${12 - index} of 12`),
    );
    expect(year.map(({ occurred_at }) => String(occurred_at).slice(0, 10)).slice(-3)).toEqual([
      "2026-03-31",
      "2026-02-28",
      "2026-01-31",
    ]);
  });

  test("Shows of a filtered batch what its matching lines cost, and the whole", async () => {
    const whole = await one("type=batch");
    expect(whole).toMatchObject({
      amount_usd: 0.75,
      message_amount_usd: 0.75,
      line_count: 3,
      model: null,
      feature: null,
      cost_status: "unpriced",
    });
    expect(whole.label).toBe("openai · batch b-7 · 3 lines");
    expect(await one("type=batch&feature=search")).toMatchObject({
      amount_usd: 0.5,
      message_amount_usd: 0.75,
      line_count: 2,
      feature: "search",
      model: null,
    });
    expect(await one("type=batch&feature=search&model=gpt-4o")).toMatchObject({
      amount_usd: 0.5,
      line_count: 1,
      cost_status: "client",
    });
    expect(await one("cost_status=unpriced")).toMatchObject({
      amount_usd: 0,
      line_count: 1,
      model: "unheard-of",
    });
  });

  test("Is found by text in label, feature, model, provider and notes", async () => {
    const found = async (q: string) =>
      rowsOf(await team.activity(`period=all&q=${encodeURIComponent(q)}`))
        .map(({ message_type }) => message_type)
        .sort();
    expect(await found("nightly 100%_")).toEqual(["usage"]);
    expect(await found("100__run")).toEqual([]);
    expect(await found("INVOICE 12")).toEqual(["expense"]);
    expect(await found("figm")).toEqual(["expense"]);
    expect(await found("unheard")).toEqual(["batch"]);
    expect(await found("chat")).toEqual(["batch", "usage"]);
  });

  test("Is found by an empty filter when it lacks the value", async () => {
    expect(rowsOf(await team.activity("provider=")).map(({ message_type }) => message_type)).toEqual([
      "allocation",
      "allocation",
    ]);
    expect(rowsOf(await team.activity("key="))).toEqual([]);
  });

  test("Shows by itself how its amount was computed", async () => {
    const read = async (index: number) =>
      (await team.viewer.get(`/api/v1/workspaces/${team.slug}/messages/${ids[index]}`)).body;
    expect((await read(0)).idempotency_key).toBe("order-1042");
    expect(await read(2)).toMatchObject({
      idempotency_key: null,
      message_type: "batch",
      amount_usd: 0.75,
      lines: [{ amount_usd: 0.25 }, { amount_usd: 0.5 }, { cost_status: "unpriced" }],
    });
    expect(await read(3)).toMatchObject({
      currency: "EUR",
      original_amount: 100,
      notes: "Invoice 12",
      price: { rate: expect.any(Number), date: expect.any(String) },
    });
    expect(await read(4)).toMatchObject({
      amount_usd: 0.2,
      entries: [
        { project_slug: "office", amount_usd: 0.2 },
        { project_slug: "checkout", amount_usd: -0.2 },
      ],
    });
    const year = await read(5);
    expect(year).toMatchObject({ amount_usd: 120, details: { plan: "Team" } });
    expect(year.entries).toHaveLength(12);
  });
});
