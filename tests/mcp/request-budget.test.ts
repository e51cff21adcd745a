import { beforeEach, expect, test } from "vitest";
import { blockingBudgetsOf } from "@/tests/helpers/blocking-budgets";
import { apiClient, costMessage } from "@/tests/helpers/client";
import { withSharedHarness } from "@/tests/helpers/shared-harness";
import { makeTeam, type Team } from "@/tests/helpers/team";
import { toolCall } from "@/tests/helpers/tool-call";

// An assistant that a budget refuses asks for more of it; people decide.

const harness = withSharedHarness();
let team: Team;

beforeEach(async () => {
  team = await makeTeam(harness);
});

const { create } = blockingBudgetsOf(() => team);
const lastDay = new Date(Date.now() + 5 * 86_400_000).toISOString().slice(0, 10);

type Answer = { isError?: boolean; content: { text: string }[]; structuredContent: Record<string, unknown> };

/** A member's key. @returns what calls tools with it, and a client of the API */
async function assistant(permissions: string[], more: object = {}) {
  const { id, secret } = await harness.fixtures.key(team.workspace, {
    permissions,
    created_by: team.users.member.id,
    ...more,
  } as Parameters<typeof harness.fixtures.key>[1]);
  const client = apiClient(harness.services[0]?.baseUrl ?? "", secret);
  return {
    id,
    client,
    call: async (name: string, args: Record<string, unknown>) => {
      const { body, headers } = toolCall("2026", name, args);
      return ((await client.call("POST", "/api/mcp", body, headers)).body as { result: Answer }).result;
    },
  };
}

test("Asks with the budget that the refusal names, and spends once people have approved", async () => {
  const { id } = await create({ name: "All", amount: 1 });
  const { call, client } = await assistant(["log_usage", "read_summaries"]);
  const usage = { project: "checkout", provider: "openai", model: "gpt-4o", unit_type: "input_tokens" };
  const spend = (amount: number) => call("log_usage", { ...usage, quantity: 1, estimated_cost: amount });
  expect((await spend(1)).isError ?? false).toBe(false);
  const refused = await spend(0.5);
  expect(refused.isError).toBe(true);
  expect(refused.content[0]?.text).toContain("request_budget");
  expect(refused.content[0]?.text).toContain(id);

  const ask = { budget_id: id, amount: 0.5, reason: "The last page", until: lastDay };
  const asked = await call("request_budget", ask);
  expect(asked.isError ?? false, asked.content[0]?.text).toBe(false);
  expect(asked.structuredContent).toMatchObject({
    state: "pending",
    amount: 0.5,
    until: lastDay,
    budget: { id },
  });
  // One request at a time.
  expect(await call("request_budget", ask)).toMatchObject({ isError: true });
  expect((await spend(0.5)).isError).toBe(true);

  const decision = `${team.path}/budget-requests/${asked.structuredContent.id}/decision`;
  expect((await team.users.member.call("POST", decision, { decision: "approve" })).status).toBe(403);
  expect((await team.users.admin.call("POST", decision, { decision: "approve" })).status).toBe(200);
  expect((await spend(0.5)).isError ?? false).toBe(false);
  const { status } = await client.post(costMessage({ estimated_cost: 0.01 }));
  expect(status).toBe(402);
});

test("Asks for more of its own key's limit with the key that the refusal and the check name", async () => {
  const { call, id } = await assistant(["log_usage"], { monthly_limit: 1 });
  const usage = { project: "checkout", provider: "openai", model: "gpt-4o" };
  const spend = (amount: number) =>
    call("log_usage", { ...usage, unit_type: "input_tokens", quantity: 1, estimated_cost: amount });
  expect((await spend(1)).isError ?? false).toBe(false);
  const refused = await spend(0.5);
  expect(refused.content[0]?.text).toContain("request_budget");
  expect(refused.content[0]?.text).toContain(id);
  const check = await call("check_budget", { ...usage, estimated_cost: 0.5 });
  expect(check.content[0]?.text).toContain(`ask with request_budget, the key ${id} and a reason`);
  expect(check.structuredContent).toMatchObject({ admitted: false, refusal: { how_to_ask: { key_id: id } } });

  const asked = await call("request_budget", {
    key_id: id,
    amount: 0.5,
    reason: "The last page",
    until: lastDay,
  });
  expect(asked.content[0]?.text).toContain("0.5 USD more of this key's monthly limit");
  expect(asked.structuredContent).toMatchObject({ budget: null, limited_key: { id } });
  const decision = `${team.path}/budget-requests/${asked.structuredContent.id}/decision`;
  // Who made the key is the author.
  expect((await team.users.member.call("POST", decision, { decision: "approve" })).status).toBe(403);
  expect((await team.users.admin.call("POST", decision, { decision: "approve" })).status).toBe(200);
  expect((await spend(0.5)).isError ?? false).toBe(false);
  expect((await spend(0.01)).isError).toBe(true);
});

test.each<[string, Record<string, unknown>, string]>([
  [
    "a budget that does not exist",
    { budget_id: "0193a0f7-1e44-7c02-a6d3-90b1f8e2d417" },
    "get_budget_status",
  ],
  ["a day that is over", { until: "2020-01-01" }, "until"],
  ["nothing more", { amount: 0 }, "amount"],
  ["no reason", { reason: " " }, "reason"],
])("Refuses %s, and says what is wrong", async (_, wrong, said) => {
  const { id } = await create({ amount: 1 });
  const { call } = await assistant(["log_usage"]);
  const answer = await call("request_budget", {
    ...{ budget_id: id, amount: 1, reason: "A launch", until: lastDay },
    ...wrong,
  });
  expect(answer.isError).toBe(true);
  expect(answer.content[0]?.text).toContain(said);
});

test("Is refused to a key that may only read", async () => {
  const { id } = await create({ amount: 1 });
  const { call } = await assistant(["read_summaries"]);
  const ask = { budget_id: id, amount: 1, reason: "A launch", until: lastDay };
  expect(await call("request_budget", ask)).toMatchObject({ isError: true });
  const { body } = await team.users.admin.get(`${team.path}/budget-requests`);
  expect(body.requests).toEqual([]);
});
