import { type Snippet, writeSnippets } from "@/components/docs/snippets";
import type { KeyView, ServiceAddresses } from "./key-view";

/** What of a key decides which message it may send. */
type KeyScope = Pick<KeyView, "permissions" | "project" | "conditions">;

/** A key that may do everything, for examples of no key in particular. */
export const anyKey: KeyScope = {
  permissions: ["log_usage"],
  project: null,
  conditions: { project_slugs: [], deny_project_slugs: [], features: [], sources: [] },
};

/** A request that a key is allowed: a message of a kind it may record, or a read where it may record nothing. */
export function exampleRequest(key: KeyScope): { method: "GET" | "POST"; path: string; body?: unknown } {
  const { project_slugs: allowed, deny_project_slugs: denied, features, sources } = key.conditions;
  const message = exampleMessage(key.permissions, features[0]);
  if (!message) return { method: "GET", path: "/api/v1/summary/month" };
  const free = ["checkout", "my-project"].find((slug) => !denied.includes(slug));
  const project = key.project?.slug ?? allowed[0] ?? free ?? "first-project";
  return {
    method: "POST",
    path: "/api/v1/messages",
    body: { project, source: sources[0] ?? "api", message },
  };
}

function exampleMessage(
  permissions: KeyView["permissions"],
  feature: string | undefined,
): object | undefined {
  if (permissions.includes("log_usage")) {
    return {
      type: "usage",
      provider: "openai",
      model: "gpt-4o",
      unit_type: "input_tokens",
      quantity: 52_000,
      ...(feature && { feature }),
    };
  }
  if (permissions.includes("add_expenses")) return { type: "expense", vendor: "Hetzner", amount: 84.9 };
  if (permissions.includes("manage_subscriptions"))
    return { type: "subscription", vendor: "Cursor", amount: 20 };
  return undefined;
}

/** How to use a key, in each language. @param secret stands in all of them; without it they read it from the environment */
export function writeKeySnippets(key: KeyScope, { api, mcp }: ServiceAddresses, secret?: string): Snippet[] {
  const { method, path, body } = exampleRequest(key);
  return [
    ...writeSnippets({ method, url: api + path, credential: "key", body, ...(secret && { secret }) }),
    { label: "MCP", language: "json", code: writeMcpConfig(mcp, secret ?? "svc_live_…") },
  ];
}

/** Claude Code, Cursor and most other assistants read this form. */
function writeMcpConfig(url: string, secret: string): string {
  const outlay = { type: "http", url, headers: { Authorization: `Bearer ${secret}` } };
  return JSON.stringify({ mcpServers: { outlay } }, null, 2);
}
