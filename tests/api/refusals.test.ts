import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { generateSecret } from "@/lib/keys/secret";
import { apiClient, costMessage } from "@/tests/helpers/client";
import { createTestDatabase, type TestDatabase } from "@/tests/helpers/database";
import { Fixtures, type KeyOptions } from "@/tests/helpers/keys";
import { type Service, startService } from "@/tests/helpers/service";

// The same refusals from the fast lane and from Next: a deployment without our server answers no differently.
describe.each([
  ["the fast lane", "on"],
  ["Next", "off"],
])("Requests through %s", (_, lane) => {
  let database: TestDatabase;
  let fixtures: Fixtures;
  let service: Service;
  let workspace: string;

  beforeAll(async () => {
    database = await createTestDatabase();
    fixtures = new Fixtures(database.adminUrl);
    service = await startService(database, { OUTLAY_FAST_LANE: lane });
    workspace = await fixtures.workspace();
  });

  afterAll(async () => {
    await service?.stop();
    await fixtures?.close();
    await database?.drop();
  });

  const clientOf = async (options: KeyOptions = {}) =>
    apiClient(service.baseUrl, (await fixtures.key(workspace, options)).secret);

  /** Everything that a refused request must not change. */
  const snapshot = async () => {
    const { rows } = await fixtures.sql.query(`
      select (select count(*) from public.messages) as messages, (select count(*) from public.projects) as projects,
        (select count(*) from public.daily_spend) as daily, (select count(*) from public.key_spend) as key_spend,
        (select count(*) from private.idempotency) as idempotency`);
    return rows[0];
  };

  type Case = {
    name: string;
    key?: KeyOptions;
    secret?: string | null;
    body?: unknown;
    headers?: Record<string, string>;
    expected: { status: number; error: string } & Record<string, unknown>;
    path?: string;
    issue?: string;
  };

  const refusals: Case[] = [
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
      expected: { status: 400, error: "invalid_json" },
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

  test.each(refusals)(
    "Refuses $name with a reason and writes nothing",
    async ({ key, secret, body, headers, path, issue, expected }) => {
      const client = secret === undefined ? await clientOf(key) : apiClient(service.baseUrl, secret);
      const before = await snapshot();
      const { status, ...fields } = expected;
      const answer = await client.post(body ?? costMessage(), headers, path);
      expect(answer.body).toMatchObject({ ...fields, request_id: expect.stringMatching(/^req_/) });
      expect(answer.status).toBe(status);
      expect(answer.body.error_description).toEqual(expect.stringMatching(/\w.*[.!?)]?$/));
      expect(answer.headers.get("content-type")).toBe("application/json; charset=utf-8");
      expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
      expect(answer.headers.get("www-authenticate")).toBe(status === 401 ? 'Bearer realm="outlay"' : null);
      expect(answer.headers.get("x-request-id")).toBe(answer.body.request_id);
      if (issue) expect(answer.body.issues).toContainEqual({ path: issue, message: expect.any(String) });
      expect(await snapshot()).toEqual(before);
    },
  );

  test("Limits a key bound to a project to that project, whatever its lists contain", async () => {
    const project = await fixtures.project(workspace, `p-${randomUUID()}`);
    const client = await clientOf({ project_id: project, conditions: { project_slugs: ["checkout"] } });
    const answer = await client.post(costMessage());
    expect([answer.status, answer.body.error]).toEqual([403, "project_not_allowed"]);
  });

  test("Stops reading a body without a declared length at the limit", async () => {
    const { secret } = await fixtures.key(workspace);
    const chunk = new TextEncoder().encode(" ".repeat(64 * 1024));
    let sent = 0;
    const body = new ReadableStream({
      pull: (controller) => (sent++ < 20 ? controller.enqueue(chunk) : controller.close()),
    });
    const response = await fetch(`${service.baseUrl}/api/v1/messages`, {
      method: "POST",
      headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
      body,
      duplex: "half",
    } as RequestInit);
    expect(response.status).toBe(413);
  });

  test("Checks in the order address, rate, body, permission", async () => {
    const client = await clientOf({ rate_limit_rpm: 2, permissions: [], allowed_cidrs: ["127.0.0.0/8"] });
    expect((await client.post("{")).body.error).toBe("invalid_json");
    expect((await client.post(costMessage())).body.error).toBe("permission_denied");
    const limited = await client.post("{");
    expect([limited.status, limited.body.error]).toEqual([429, "rate_limited"]);
    expect(Number(limited.headers.get("retry-after"))).toBeGreaterThan(55);
    expect(limited.headers.get("ratelimit-policy")).toBe('"key";q=2;w=60');
    expect(limited.headers.get("ratelimit")).toMatch(/^"key";r=0;t=\d+$/);
  });

  test("Answers another method with 405 and Allow, and another path with the same 404", async () => {
    const client = await clientOf();
    const wrong = await client.call("DELETE", "/api/v1/messages");
    expect([wrong.status, wrong.body.error, wrong.headers.get("allow")]).toEqual([
      405,
      "method_not_allowed",
      "POST",
    ]);
    // Next refuses what it does not know as a method before it looks for a route.
    const unheard = await client.call("PROPFIND", "/api/v1/messages");
    expect(unheard.status).toBe(lane === "on" ? 405 : 400);
    const nowhere = await client.get("/api/v1/nothing");
    expect([nowhere.status, nowhere.body.error]).toEqual([404, "not_found"]);
  });

  test("Answers what is outside a key's scope like what does not exist", async () => {
    await (await clientOf()).post(costMessage({}, { project: "hidden" }));
    const client = await clientOf({ conditions: { deny_project_slugs: ["hidden"] } });
    const strip = ({ status, body }: { status: number; body: Record<string, unknown> }) => ({
      status,
      ...body,
      request_id: "",
    });
    const hidden = strip(await client.get("/api/v1/projects/hidden/spend"));
    expect(hidden).toEqual(strip(await client.get("/api/v1/projects/missing/spend")));
    expect(hidden.status).toBe(404);
  });

  test.each(["/api/v1/summary/month", "/api/v1/projects/checkout/spend", "/api/v1/budgets/status"])(
    "Requires read_summaries for GET %s",
    async (path) => {
      const denied = await (await clientOf({ permissions: ["log_usage"] })).get(path);
      expect([denied.status, denied.body.error]).toEqual([403, "permission_denied"]);
      const stranger = await apiClient(service.baseUrl, null).get(path);
      expect([stranger.status, stranger.body.error]).toEqual([401, "missing_credentials"]);
    },
  );

  test("Answers health without credentials", async () => {
    const { status, body } = await apiClient(service.baseUrl, null).get("/api/health");
    const checks = { database_readable: "ok", database_writable: "ok" };
    expect([status, body.status, body.checks]).toEqual([200, "ok", checks]);
  });
});
