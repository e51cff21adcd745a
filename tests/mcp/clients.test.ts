import { afterEach, describe, expect, test } from "vitest";
import { apiClient } from "../helpers/client";
import { ledgerDifferences } from "../helpers/harness";
import {
  connectModern,
  connectOlder,
  type McpClient,
  modernHttp,
  modernStdio,
  olderHttp,
  olderStdio,
  throughMcpRemote,
} from "../helpers/mcp";
import { withSharedHarness } from "../helpers/shared-harness";

const harness = withSharedHarness();
const baseUrl = () => harness.services[0]?.baseUrl ?? "";
const mcpUrl = () => `${baseUrl()}/api/mcp`;

const open: McpClient[] = [];
afterEach(async () => {
  for (const client of open.splice(0)) await client.close();
});
const opened = async (connecting: Promise<McpClient>) => {
  const client = await connecting;
  open.push(client);
  return client;
};

/** Each client of the tools, with how it connects. */
const clients: [name: string, kind: "remote" | "local", connect: (secret: string) => Promise<McpClient>][] = [
  ["SDK 2, HTTP", "remote", (secret) => connectModern(modernHttp(mcpUrl(), secret))],
  ["SDK 1, HTTP", "remote", (secret) => connectOlder(olderHttp(mcpUrl(), secret))],
  ["mcp-remote", "remote", (secret) => connectOlder(throughMcpRemote(mcpUrl(), secret))],
  ["SDK 2, stdio", "local", (secret) => connectModern(modernStdio(baseUrl(), secret))],
  ["SDK 1, stdio", "local", (secret) => connectOlder(olderStdio(baseUrl(), secret))],
];

const everywhere = [
  ...["log_usage", "add_expense", "get_project_spend", "get_budget_status"],
  ...["check_budget", "request_budget", "query_spend"],
];

describe.each(clients)("%s", (name, kind, connect) => {
  /** What the service says to each key is the same whatever the client is; a program more is started for each key. */
  const testOnce = test.runIf(name.startsWith("SDK 2"));

  test("Lists the tools with their annotations", async () => {
    const { secret } = await harness.fixtures.key(await harness.fixtures.workspace());
    const client = await opened(connect(secret));
    const tools = await client.list();
    expect(tools.map(({ name }) => name)).toEqual(
      kind === "remote"
        ? [
            ...everywhere,
            ...["get_monthly_summary", "get_closed_months", "get_reconciliation"],
            "list_recommendations",
            ...["list_alerts", "take_alert", "snooze_alert", "resolve_alert"],
          ]
        : everywhere,
    );
    for (const { name, annotations } of tools) {
      const isReadOnly = /^(get_|query_spend$|list_alerts$|list_recommendations$|check_budget$)/.test(name);
      expect([name, annotations]).toMatchObject([
        name,
        {
          readOnlyHint: isReadOnly,
          idempotentHint: isReadOnly || name.endsWith("_alert"),
          destructiveHint: false,
          openWorldHint: false,
        },
      ]);
    }
  });

  test("Records and reads the same as REST", async () => {
    const workspace = await harness.fixtures.workspace();
    await harness.fixtures.sql.query(
      "insert into public.budgets (workspace_id, name, scope_type, amount) values ($1, 'All', 'global', 100)",
      [workspace],
    );
    const { secret } = await harness.fixtures.key(workspace);
    const client = await opened(connect(secret));
    const rest = apiClient(baseUrl(), secret);

    const usage = await client.call("log_usage", {
      project: "checkout",
      provider: "openai",
      model: "gpt-4o",
      unit_type: "input_tokens",
      quantity: 1200,
      feature: "chat",
      batch_id: "b1",
    });
    expect(usage).toMatchObject({ isError: false, data: { amount_usd: 0.003, cost_status: "priced" } });
    expect(usage.text).toContain("Recorded $0.003 in the project checkout");
    const estimated = await client.call("log_usage", {
      project: "checkout",
      provider: "acme",
      unit_type: "requests",
      quantity: 0.5,
      estimated_cost: 0.1,
    });
    expect(estimated.data).toMatchObject({ amount_usd: 0.1, cost_status: "client" });
    const expense = await client.call("add_expense", {
      project: "search",
      vendor: "Figma",
      amount: 12.5,
      category: "design",
      notes: "One seat",
    });
    expect(expense.data).toMatchObject({ amount_usd: 12.5 });

    const { rows } = await harness.fixtures.sql.query(
      "select type, source, provider, feature, batch_id, notes from public.messages where workspace_id = $1 order by created_at, id",
      [workspace],
    );
    expect(rows).toMatchObject([
      { type: "usage", source: "mcp", provider: "openai", feature: "chat", batch_id: "b1" },
      { type: "usage", source: "mcp", provider: "acme" },
      { type: "expense", source: "mcp", provider: "Figma", notes: "One seat" },
    ]);

    const spend = await client.call("get_project_spend", { project: "checkout" });
    expect(spend.data).toEqual((await rest.get("/api/v1/projects/checkout/spend")).body);
    expect(spend.data).toMatchObject({ total_usd: 0.103, message_count: 2 });
    expect(spend.text).toContain("spent $0.103 from");
    const query = { group_by: ["project", "model"], filters: [{ field: "type", values: ["usage"] }] };
    const queried = await client.call("query_spend", query);
    expect(queried.data).toEqual((await rest.call("POST", "/api/v1/spend/query", query)).body);
    expect(queried.text).toContain("checkout, gpt-4o: $0.003");
    expect(queried.text).toContain("checkout, (none): $0.1");
    const inEur = await client.call("query_spend", { ...query, currency: "EUR" });
    expect(inEur.data).toEqual(
      (await rest.call("POST", "/api/v1/spend/query", { ...query, currency: "EUR" })).body,
    );
    expect(inEur.data).toMatchObject({ totals: { cost_usd: 0.103 }, converted: { currency: "EUR" } });
    expect(inEur.text).toMatch(/The cost is about 0\.\d+ EUR, each day converted at its rate\./);
    const budgets = await client.call("get_budget_status");
    expect(budgets.data).toEqual((await rest.get("/api/v1/budgets/status")).body);
    expect(budgets.text).toContain("$12.603 of $100 spent, $87.397 left");
    const check = await client.call("check_budget", { project: "checkout", estimated_cost: 1.5 });
    expect(check.data).toMatchObject({ admitted: true, estimated_usd: 1.5, refusal: null });
    expect(check.text).toContain("$87.397 of $100 left");
    if (kind === "remote") {
      const summary = await client.call("get_monthly_summary");
      expect(summary.data).toEqual((await rest.get("/api/v1/summary/month")).body);
      expect(summary.text).toContain("$12.603 so far");
    }
    expect(await ledgerDifferences(harness.fixtures)).toEqual([]);
  });

  test("Records for whom the call's _meta says, and refuses what it cannot keep", async () => {
    const workspace = await harness.fixtures.workspace();
    const { secret } = await harness.fixtures.key(workspace);
    const client = await opened(connect(secret));
    const usage = {
      ...{ project: "checkout", provider: "openai", model: "gpt-4o" },
      ...{ unit_type: "input_tokens", quantity: 1 },
    };
    const meta = {
      "outlay/user": "anna@example.com",
      "outlay/session": "s-1",
      "outlay/tags": { team: "growth" },
    };
    expect((await client.call("log_usage", usage, undefined, meta)).isError).toBeFalsy();
    const paid = { project: "checkout", vendor: "Figma", amount: 1 };
    expect((await client.call("add_expense", paid, undefined, meta)).isError).toBeFalsy();
    const { rows } = await harness.fixtures.sql.query(
      "select type, end_user, session, tags from public.messages where workspace_id = $1 order by type desc",
      [workspace],
    );
    const tags = ["team:growth"];
    expect(rows).toEqual([
      { type: "usage", end_user: "anna@example.com", session: "s-1", tags },
      { type: "expense", end_user: null, session: null, tags },
    ]);
    const refused = await client.call("log_usage", usage, undefined, {
      "outlay/user": "Bearer abcdefghijkl",
    });
    expect(refused).toMatchObject({ isError: true });
    expect(refused.text).toContain("_meta.outlay/user: looks like a key or token");
  });

  test("Accepts null for absent fields, a range with one end, and times without seconds", async () => {
    const { secret } = await harness.fixtures.key(await harness.fixtures.workspace());
    const client = await opened(connect(secret));
    const usage = {
      project: "checkout",
      provider: "acme",
      unit_type: "requests",
      quantity: 1,
      estimated_cost: 2,
    };
    const logged = await client.call("log_usage", { ...usage, model: null, feature: null, batch_id: null });
    expect([logged.isError, logged.text]).toEqual([false, expect.stringContaining("$2")]);
    const expense = {
      project: "checkout",
      vendor: "v",
      amount: 1,
      currency: null,
      category: null,
      notes: null,
    };
    expect((await client.call("add_expense", expense)).data).toMatchObject({ amount_usd: 1 });
    const spend = await client.call("get_project_spend", { project: "checkout", from: null, to: null });
    expect(spend.data).toMatchObject({ total_usd: 3 });
    const earlier = await client.call("get_project_spend", { project: "checkout", to: "2026-04-15t00:00z" });
    expect(earlier.data).toMatchObject({
      from: "2026-04-01T00:00:00.000+00:00",
      to: "2026-04-15T00:00:00.000+00:00",
    });
    expect((await client.call("log_usage", { ...usage, quantity: null })).text).toContain(
      "quantity: must be a number",
    );
  });

  testOnce("Distinguishes hidden budgets from a workspace without budgets", async () => {
    const workspace = await harness.fixtures.workspace();
    const connected = async (options?: Parameters<typeof harness.fixtures.key>[1]) => {
      const { secret } = await harness.fixtures.key(workspace, options);
      return { secret, client: await opened(connect(secret)) };
    };
    const statusFor = async ({ secret, client }: Awaited<ReturnType<typeof connected>>) => {
      const { data, text } = await client.call("get_budget_status");
      expect(data).toEqual((await apiClient(baseUrl(), secret).get("/api/v1/budgets/status")).body);
      return text;
    };
    const confined = await connected({ conditions: { project_slugs: ["checkout"] } });
    expect(await statusFor(confined)).toBe("This workspace has no budgets.");

    const setBudget = (name: string, scope: string, value: string | null, amount: number) =>
      harness.fixtures.sql.query(
        "insert into public.budgets (workspace_id, name, scope_type, scope_value, amount) values ($1, $2, $3, $4, $5)",
        [workspace, name, scope, value, amount],
      );
    await setBudget("The board's", "global", null, 100);
    expect(await statusFor(confined)).toBe(
      "No budget is visible to this key. 1 budget is hidden from this key, because it includes spend that the key may not read.",
    );
    await setBudget("Search's", "feature", "search", 100);
    await setBudget("Own", "project", await harness.fixtures.project(workspace, "checkout"), 100);
    const text = await statusFor(confined);
    expect(text).toContain("- Own (project): $0 of $100 spent");
    expect(text).toContain("2 budgets are hidden from this key");
    expect(text).not.toMatch(/board|search/i);
    expect(await statusFor(await connected())).not.toContain("hidden");
  });

  testOnce("Receives a refusal as a tool result that says what to do", async () => {
    const workspace = await harness.fixtures.workspace();
    const usage = {
      project: "checkout",
      provider: "acme",
      unit_type: "requests",
      quantity: 1,
      estimated_cost: 0.6,
    };
    const refused = async (secret: string, tool: string, args: Record<string, unknown>) => {
      const client = await opened(connect(secret));
      const result = await client.call(tool, args);
      expect(result.isError).toBe(true);
      return { client, text: result.text };
    };

    const reader = await harness.fixtures.key(workspace, { permissions: ["read_summaries"] });
    const denied = await refused(reader.secret, "log_usage", usage);
    expect(denied.text).toContain("lacks the permission log_usage");
    expect(denied.text).toContain('"error":"permission_denied"');
    const wrong = await denied.client.call("log_usage", { ...usage, quantity: -1, colour: "red" });
    expect(wrong.isError).toBe(true);
    expect(wrong.text).toContain("quantity: must be greater than 0");
    expect(wrong.text).toContain("colour: is not a field here");
    expect((await denied.client.call("get_project_spend", { project: "nowhere" })).text).toContain(
      "not_found",
    );

    const writer = await harness.fixtures.key(workspace, { permissions: ["log_usage"], monthly_limit: "1" });
    const unread = await refused(writer.secret, "get_budget_status", {});
    expect(unread.text).toContain("lacks the permission read_summaries");
    expect((await unread.client.call("query_spend", {})).text).toContain(
      "lacks the permission read_summaries",
    );
    expect((await unread.client.call("log_usage", usage)).isError).toBe(false);
    const exceeded = await unread.client.call("log_usage", usage);
    expect(exceeded.isError).toBe(true);
    expect(exceeded.text).toContain("$1, of which $0.6 is spent");
    expect(exceeded.text).toContain("$0.4 of it is left");

    const elsewhere = await harness.fixtures.key(workspace, { conditions: { sources: ["api"] } });
    expect((await refused(elsewhere.secret, "log_usage", usage)).text).toContain("source_not_allowed");
    const confined = await harness.fixtures.key(workspace, { conditions: { project_slugs: ["search"] } });
    const { client, text } = await refused(confined.secret, "log_usage", usage);
    expect(text).toContain("project_not_allowed");
    expect((await client.call("get_project_spend", { project: "checkout" })).text).toContain("not_found");
  });
});

test("SDK 2 negotiates 2026-07-28, SDK 1 negotiates 2025-11-25", async () => {
  const { secret } = await harness.fixtures.key(await harness.fixtures.workspace());
  expect((await opened(connectModern(modernHttp(mcpUrl(), secret)))).version).toBe("2026-07-28");
  expect((await opened(connectModern(modernStdio(baseUrl(), secret)))).version).toBe("2026-07-28");
  expect((await opened(connectOlder(olderHttp(mcpUrl(), secret)))).version).toBe("2025-11-25");
});

test("Counts the records of a project's range and lists at most 200 of them", async () => {
  const { secret } = await harness.fixtures.key(await harness.fixtures.workspace());
  const line = (occurred_at: string) => ({
    project: "checkout",
    source: "api",
    message: {
      type: "usage",
      provider: "acme",
      unit_type: "requests",
      quantity: 1,
      estimated_cost: 1,
      occurred_at,
    },
  });
  const messages = [
    ...Array.from({ length: 210 }, () => line("2026-10-02T12:00:00Z")),
    line("2026-10-01T23:59:59Z"),
  ];
  await apiClient(baseUrl(), secret).call("POST", "/api/v1/messages/batch", { messages });
  const client = await opened(connectModern(modernHttp(mcpUrl(), secret)));
  const { data } = await client.call("get_project_spend", {
    project: "checkout",
    from: "2026-10-02T00:00:00Z",
    to: "2026-10-03T00:00:00+00:00",
  });
  expect(data).toMatchObject({ total_usd: 210, message_count: 210 });
  expect(data?.rows).toHaveLength(200);
  const backwards = await client.call("get_project_spend", {
    project: "checkout",
    from: "2026-10-03T00:00:00Z",
    to: "2026-10-02T00:00:00Z",
  });
  expect(backwards.text).toContain("to: must be later than from");
});
