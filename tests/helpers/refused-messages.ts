import { generateSecret } from "@/lib/access/secrets/secret";
import { costMessage } from "./client";
import type { KeyOptions } from "./keys";

/** A request that is refused: its body, and what the answer must say. */
export type RefusedMessage = {
  name: string;
  key?: KeyOptions;
  secret?: string | null;
  body?: unknown;
  headers?: Record<string, string>;
  expected: { status: number; error: string } & Record<string, unknown>;
  path?: string;
  issue?: string;
};

/** One request for each refusal of `POST /api/v1/messages`. */
export const refusedMessages: RefusedMessage[] = [
  { name: "no credentials", secret: null, expected: { status: 401, error: "missing_credentials" } },
  {
    name: "a word that is no key",
    secret: "hunter2",
    expected: { status: 401, error: "invalid_credentials" },
  },
  {
    name: "a mistyped key",
    secret: `svc_live_${"a".repeat(38)}`,
    expected: { status: 401, error: "invalid_credentials" },
  },
  {
    name: "a well-formed key that nobody has",
    secret: generateSecret(),
    expected: { status: 401, error: "invalid_credentials" },
  },
  {
    name: "a revoked key",
    key: { revoked_at: "2026-01-01" },
    expected: { status: 401, error: "key_revoked" },
  },
  {
    name: "an expired key",
    key: { expires_at: "2026-01-01" },
    expected: { status: 401, error: "key_expired" },
  },
  {
    name: "an address outside the list, whatever X-Forwarded-For claims",
    key: { allowed_cidrs: ["203.0.113.0/24"] },
    headers: { "x-forwarded-for": "203.0.113.7" },
    expected: { status: 403, error: "ip_not_allowed" },
  },
  { name: "no JSON", body: "{", expected: { status: 400, error: "invalid_json" } },
  { name: "an empty body", body: "", expected: { status: 400, error: "invalid_json" } },
  {
    name: "a body nested too deep to be meant",
    body: "[".repeat(100_000),
    expected: { status: 413, error: "payload_too_large", limit_depth: 100 },
  },
  {
    name: "a form",
    body: "project=checkout",
    headers: { "content-type": "application/x-www-form-urlencoded" },
    expected: { status: 415, error: "unsupported_media_type" },
  },
  {
    name: "a body over 1 MiB",
    body: costMessage({ label: "x".repeat(1_100_000) }),
    expected: { status: 413, error: "payload_too_large", limit_bytes: 1_048_576 },
  },
  {
    name: "no project",
    body: { ...costMessage(), project: undefined },
    issue: "project",
    expected: { status: 400, error: "validation_failed" },
  },
  {
    name: "a project that is no slug",
    body: costMessage({}, { project: "Check Out" }),
    issue: "project",
    expected: { status: 400, error: "validation_failed" },
  },
  {
    name: "an unknown source",
    body: costMessage({}, { source: "carrier pigeon" }),
    issue: "source",
    expected: { status: 400, error: "validation_failed" },
  },
  {
    name: "an unknown type",
    body: costMessage({ type: "gift" }),
    issue: "message.type",
    expected: { status: 400, error: "validation_failed" },
  },
  {
    name: "a misspelt field",
    body: costMessage({ modle: "gpt-4o" }),
    issue: "message.modle",
    expected: { status: 400, error: "validation_failed" },
  },
  {
    name: "no quantity",
    body: costMessage({ quantity: undefined }),
    issue: "message.quantity",
    expected: { status: 400, error: "validation_failed" },
  },
  {
    name: "a quantity of 0",
    body: costMessage({ quantity: 0 }),
    issue: "message.quantity",
    expected: { status: 400, error: "validation_failed" },
  },
  {
    name: "a negative quantity",
    body: costMessage({ quantity: -1 }),
    issue: "message.quantity",
    expected: { status: 400, error: "validation_failed" },
  },
  {
    name: "a quantity in quotes",
    body: costMessage({ quantity: "1" }),
    issue: "message.quantity",
    expected: { status: 400, error: "validation_failed" },
  },
  {
    name: "a quantity of 1e308",
    body: costMessage({ quantity: 1e308 }),
    issue: "message.quantity",
    expected: { status: 400, error: "validation_failed" },
  },
  {
    name: "a quantity past every float",
    body: JSON.stringify(costMessage()).replace('"quantity":1', '"quantity":1e999'),
    issue: "message.quantity",
    expected: { status: 400, error: "validation_failed" },
  },
  {
    name: "a quantity with 19 decimals",
    body: JSON.stringify(costMessage()).replace('"quantity":1', '"quantity":0.0000000000000000001'),
    issue: "message.quantity",
    expected: { status: 400, error: "validation_failed" },
  },
  {
    name: "a negative cost",
    body: costMessage({ estimated_cost: -0.01 }),
    issue: "message.estimated_cost",
    expected: { status: 400, error: "validation_failed" },
  },
  {
    name: "more from the cache than there was",
    body: costMessage({ cached_quantity: 2 }),
    issue: "message.cached_quantity",
    expected: { status: 400, error: "validation_failed" },
  },
  {
    name: "a NUL in a text",
    body: costMessage({ feature: "a\u0000b" }),
    issue: "message.feature",
    expected: { status: 400, error: "validation_failed" },
  },
  {
    name: "half a surrogate pair",
    body: costMessage({ feature: "\ud800" }),
    issue: "message.feature",
    expected: { status: 400, error: "validation_failed" },
  },
  {
    name: "a time without an offset",
    body: costMessage({ occurred_at: "2026-11-01T00:00:00" }),
    issue: "message.occurred_at",
    expected: { status: 400, error: "validation_failed" },
  },
  {
    name: "a time to come",
    body: costMessage({ occurred_at: "2099-01-01T00:00:00Z" }),
    issue: "message.occurred_at",
    expected: { status: 400, error: "validation_failed" },
  },
  {
    name: "a time before the year 2000",
    body: costMessage({ occurred_at: "1999-12-31T23:59:59Z" }),
    issue: "message.occurred_at",
    expected: { status: 400, error: "validation_failed" },
  },
  {
    name: "metadata with depth",
    body: costMessage({ metadata: { a: { b: 1 } } }),
    issue: "message.metadata.a",
    expected: { status: 400, error: "validation_failed" },
  },
  {
    name: "an expense in no currency",
    body: {
      project: "a",
      source: "api",
      message: { type: "expense", vendor: "v", amount: 1, currency: "XXY" },
    },
    issue: "message.currency",
    expected: { status: 400, error: "validation_failed" },
  },
  {
    name: "half a yen",
    body: {
      project: "a",
      source: "api",
      message: { type: "expense", vendor: "v", amount: 10.5, currency: "JPY" },
    },
    issue: "message.amount",
    expected: { status: 400, error: "validation_failed" },
  },
  {
    name: "an idempotency key of 256 characters",
    body: costMessage({}, { idempotency_key: "x".repeat(256) }),
    issue: "idempotency_key",
    expected: { status: 400, error: "validation_failed" },
  },
  {
    name: "two idempotency keys that differ",
    body: costMessage({}, { idempotency_key: "a" }),
    headers: { "idempotency-key": "b" },
    issue: "idempotency_key",
    expected: { status: 400, error: "validation_failed" },
  },
  {
    name: "an unknown query parameter",
    path: "?dryrun=true",
    issue: "query.dryrun",
    expected: { status: 400, error: "validation_failed" },
  },
  {
    name: "usage without log_usage",
    key: { permissions: ["add_expenses"] },
    expected: { status: 403, error: "permission_denied", permission: "log_usage" },
  },
  {
    name: "an expense without add_expenses",
    key: { permissions: ["log_usage"] },
    body: { project: "a", source: "api", message: { type: "expense", vendor: "v", amount: 1 } },
    expected: { status: 403, error: "permission_denied", permission: "add_expenses" },
  },
  {
    name: "a source the key may not use",
    key: { conditions: { sources: ["mcp"] } },
    expected: { status: 403, error: "source_not_allowed", allowed_sources: ["mcp"] },
  },
  {
    name: "a project outside the allow-list",
    key: { conditions: { project_slugs: ["search"] } },
    expected: { status: 403, error: "project_not_allowed", project: "checkout" },
  },
  {
    name: "a project on the deny-list",
    key: { conditions: { deny_project_slugs: ["checkout"] } },
    expected: { status: 403, error: "project_not_allowed" },
  },
  ...(
    [
      ["a user that is empty", { user: "" }, "message.user"],
      ["a user of more than 255 characters", { user: "u".repeat(256) }, "message.user"],
      ["a user of two lines", { user: "anna\nbo" }, "message.user"],
      ["a user that is a key of Outlay", { user: generateSecret() }, "message.user"],
      ["a user that is a provider's key", { user: `sk-proj-${"x".repeat(24)}` }, "message.user"],
      ["a user that is a token", { user: "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln" }, "message.user"],
      ["a user that is a header", { user: "Bearer abcdefghijkl" }, "message.user"],
      ["a session that is a number", { session: 5 }, "message.session"],
      [
        "more than ten tags",
        { tags: Object.fromEntries(Array.from({ length: 11 }, (_, index) => [`t${index}`, "x"])) },
        "message.tags",
      ],
      ["tags in a list", { tags: ["team:growth"] }, "message.tags"],
      ["a tag with a colon in its name", { tags: { "a:b": "x" } }, "message.tags.a:b"],
      ["a tag without a name", { tags: { "": "x" } }, "message.tags."],
      ["a tag without a value", { tags: { team: "" } }, "message.tags.team"],
      ["a tag with a control character", { tags: { team: "a\u0007" } }, "message.tags.team"],
      ["a tag of more than 128 characters", { tags: { team: "x".repeat(129) } }, "message.tags.team"],
      ["a word for whether usage is included", { included: "yes" }, "message.included"],
    ] as const
  ).map(([name, fields, issue]) => ({
    name,
    body: costMessage(fields),
    issue,
    expected: { status: 400, error: "validation_failed" },
  })),
  {
    name: "a feature outside the list",
    key: { conditions: { features: ["chat"] } },
    body: costMessage({ feature: "search" }),
    expected: { status: 403, error: "feature_not_allowed" },
  },
  {
    name: "no feature where the key is confined to some",
    key: { conditions: { features: ["chat"] } },
    expected: { status: 403, error: "feature_not_allowed" },
  },
  {
    name: "a cost past the monthly limit",
    key: { monthly_limit: "0.005" },
    expected: { status: 402, error: "monthly_limit_exceeded", limit_usd: 0.005, spent_usd: 0 },
  },
];
