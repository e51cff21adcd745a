import { afterAll, beforeAll, expect, test } from "vitest";
import { type Simulator, simulateProviders } from "@/tests/providers/simulator/simulate-providers";
import { loadCalls } from "./recorded-calls";

// The simulator whose limits follow budgets in other tests answers as the providers do: their own SDKs set, read and remove limits there.

let simulator: Simulator;
// biome-ignore lint/suspicious/noExplicitAny: it has other types than ours; its own tsconfig.json checks it.
let sdks: any;
beforeAll(async () => {
  simulator = await simulateProviders();
  sdks = await loadCalls("spend-limits");
  simulator.add("admin", []).limits.things = [
    { kind: "project", id: "proj_1", name: "Checkout" },
    { kind: "workspace", id: "ws_1", name: "Checkout" },
    { kind: "key", id: "hash_1", name: "checkout" },
    { kind: "guardrail", id: "guard_1", name: "Interns" },
  ];
});
afterAll(() => simulator.close());

test("OpenAI's SDK sets, reads and removes the limit of a project in cents", async () => {
  expect(await sdks.openaiLimit(simulator.url, "admin", "proj_1")).toEqual({
    ...{ listed: ["Checkout"], set: 1050, read: 1050, removed: true },
  });
});

test("Anthropic's SDK sets, reads and removes the limit of a workspace in text of cents", async () => {
  expect(await sdks.anthropicLimit(simulator.url, "admin", "ws_1")).toEqual({
    ...{ listed: ["Checkout"], set: "1050", read: "1050", removed: "spend_limit_deleted" },
  });
});

test("OpenRouter's SDK sets and reads the limit of a key and of a workspace in dollars", async () => {
  expect(await sdks.openrouterLimit(simulator.url, "admin", "hash_1", "ws_1")).toEqual({
    ...{ listed: ["checkout", 10.5], set: 10.5, read: 10.5, removed: true },
  });
});

test("OpenRouter's SDK sets, reads and removes the limit of a guardrail in dollars", async () => {
  expect(await sdks.openrouterGuardrail(simulator.url, "admin", "guard_1")).toEqual({
    ...{ listed: ["Interns"], set: 10.5, read: "10.5 monthly", removed: null },
  });
});

test("GitHub's SDK sets, changes and removes the budget of a member and of a repository in dollars", async () => {
  expect(await sdks.githubLimit(simulator.url, "admin", "acme", "ada")).toEqual({
    ...{ listed: ["ada", "acme/web"], set: 10, read: 12, removed: true },
  });
});
