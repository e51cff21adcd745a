import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { apiClient, costMessage } from "@/tests/helpers/client";
import { createTestDatabase, type TestDatabase } from "@/tests/helpers/database";
import { Fixtures, type KeyOptions } from "@/tests/helpers/keys";
import { refusedMessages } from "@/tests/helpers/refused-messages";
import { type Service, startService } from "@/tests/helpers/service";

// The same refusals from our server and from Next: a deployment without our server answers alike.
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

  test.each(refusedMessages)(
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
    // Next refuses an unknown method before it looks for a route.
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
