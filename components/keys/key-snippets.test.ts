import { expect, test } from "vitest";
import type { KeyPermission } from "@/lib/contract/access/permissions";
import { ingestRequest } from "@/lib/contract/ledger/message";
import { parsePart } from "@/lib/contract/values/parse-part";
import { anyKey, exampleRequest, writeKeySnippets } from "./key-snippets";

test.each<KeyPermission>(["log_usage", "add_expenses", "manage_subscriptions"])(
  "a key that may only %s is shown a message that the API takes, of its own kind",
  (permission) => {
    const { method, path, body } = exampleRequest({ ...anyKey, permissions: [permission] });
    expect(`${method} ${path}`).toBe("POST /api/v1/messages");
    expect(parsePart(ingestRequest, body).ok).toBe(true);
    const kinds = { log_usage: "usage", add_expenses: "expense", manage_subscriptions: "subscription" };
    expect(body).toMatchObject({ message: { type: kinds[permission as keyof typeof kinds] } });
  },
);

test("Shows a read example for a key that may only read", () => {
  const { method, path } = exampleRequest({ ...anyKey, permissions: ["read_summaries"] });
  expect(`${method} ${path}`).toBe("GET /api/v1/summary/month");
});

test("Uses the key's own projects, features, users and sources in the example", () => {
  const conditions = {
    ...anyKey.conditions,
    features: ["chat"],
    users: ["bo"],
    sources: ["import" as const],
  };
  const only = exampleRequest({ ...anyKey, conditions: { ...conditions, project_slugs: ["search"] } });
  expect(only.body).toMatchObject({
    project: "search",
    source: "import",
    message: { feature: "chat", user: "bo" },
  });
  const except = exampleRequest({
    ...anyKey,
    conditions: { ...conditions, deny_project_slugs: ["checkout", "my-project"] },
  });
  expect((except.body as { project: string }).project).toBe("first-project");
  const bound = { slug: "billing", name: "Billing" };
  expect(exampleRequest({ ...anyKey, project: bound, conditions }).body).toMatchObject({
    project: "billing",
  });
});

test("Puts the secret and this service's address into every example of a new key", () => {
  const snippets = writeKeySnippets(
    anyKey,
    { api: "https://outlay.example.com", mcp: "https://mcp.example.com" },
    "svc_live_x",
  );
  expect(snippets.map(({ label }) => label)).toEqual(["curl", "TypeScript", "Python", "MCP"]);
  for (const { label, code } of snippets) {
    expect(code).toContain("svc_live_x");
    expect(code).toContain(
      label === "MCP" ? '"url": "https://mcp.example.com"' : "https://outlay.example.com/api/v1/messages",
    );
  }
});
