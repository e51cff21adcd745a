import { type Snippet, writeSnippets } from "@/components/docs/snippets";
import type { KeyView, ServiceAddresses } from "./key-view";

/** The fields of a key that decide which messages it may send. */
type KeyScope = Pick<KeyView, "permissions" | "project" | "conditions">;

/** A key without conditions, for examples before a key exists. */
export const anyKey: KeyScope = {
  permissions: ["log_usage"],
  project: null,
  conditions: { project_slugs: [], deny_project_slugs: [], features: [], sources: [], users: [] },
};

/** A request that the key is allowed to send: a message of a type it may record, or a summary when it may only read. */
export function exampleRequest(key: KeyScope): { method: "GET" | "POST"; path: string; body?: unknown } {
  const { project_slugs: allowed, deny_project_slugs: denied, features, sources, users } = key.conditions;
  const message = exampleMessage(key.permissions, features[0], users[0]);
  if (!message) return { method: "GET", path: "/api/v1/summary/month" };
  const allowedExample = ["checkout", "my-project"].find((slug) => !denied.includes(slug));
  const project = key.project?.slug ?? allowed[0] ?? allowedExample ?? "first-project";
  return {
    method: "POST",
    path: "/api/v1/messages",
    body: { project, source: sources[0] ?? "api", message },
  };
}

function exampleMessage(
  permissions: KeyView["permissions"],
  feature: string | undefined,
  user: string | undefined,
): object | undefined {
  if (permissions.includes("log_usage")) {
    return {
      type: "usage",
      provider: "openai",
      model: "gpt-4o",
      unit_type: "input_tokens",
      quantity: 52_000,
      ...(feature && { feature }),
      ...(user && { user }),
    };
  }
  if (permissions.includes("add_expenses")) return { type: "expense", vendor: "Hetzner", amount: 84.9 };
  if (permissions.includes("manage_subscriptions"))
    return { type: "subscription", vendor: "Cursor", amount: 20 };
  return undefined;
}

/** Code that uses a key, in each language. @param secret written into the code; without it, the code reads the environment */
export function writeKeySnippets(key: KeyScope, { api, mcp }: ServiceAddresses, secret?: string): Snippet[] {
  const { method, path, body } = exampleRequest(key);
  return [
    ...writeSnippets({ method, url: api + path, credential: "key", body, ...(secret && { secret }) }),
    { label: "MCP", language: "json", code: writeMcpConfig(mcp, secret ?? "svc_live_…") },
  ];
}

/** The configuration format of Claude Code, Cursor and most other assistants. */
function writeMcpConfig(url: string, secret: string): string {
  const outlay = { type: "http", url, headers: { Authorization: `Bearer ${secret}` } };
  return JSON.stringify({ mcpServers: { outlay } }, null, 2);
}
