import { request as httpRequest } from "node:http";
import { gzipSync } from "node:zlib";
import { fromBinary } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { StatusSchema } from "@/lib/sources/otlp/proto/google/rpc/status_pb";
import { ExportTraceServiceResponseSchema } from "@/lib/sources/otlp/proto/opentelemetry/proto/collector/trace/v1/trace_service_pb";
import { chatCall, exportSpans, readCapture, toProtobuf } from "@/tests/helpers/otlp";
import { makeSource } from "@/tests/helpers/otlp-source";
import { withSharedHarness } from "@/tests/helpers/shared-harness";
import { tablesWith } from "@/tests/helpers/tables-with";

const harness = withSharedHarness();

const anthropic = { input_tokens: 200, cache_read_tokens: 1000, cache_write_tokens: 300, output_tokens: 34 };
const protobuf = { "content-type": "application/x-protobuf" };

/** Sends bytes as they are. */
async function post(
  url: string,
  secret: string | null,
  body: Uint8Array | string,
  headers: Record<string, string>,
) {
  return fetch(`${url}/api/otlp/v1/logs`, {
    method: "POST",
    headers: { ...(secret !== null && { authorization: `Bearer ${secret}` }), ...headers },
    body: typeof body === "string" ? body : new Uint8Array(body),
  });
}

async function statusIn(response: Response) {
  expect(response.headers.get("content-type")).toBe("application/x-protobuf");
  return fromBinary(StatusSchema, new Uint8Array(await response.arrayBuffer()));
}

describe("The receiver takes", () => {
  test("What is compressed with gzip", async () => {
    const source = await makeSource(harness);
    const { body } = readCapture("claude-code-logs");
    const response = await post(source.url, source.secret, gzipSync(toProtobuf("logs", body)), {
      ...protobuf,
      "content-encoding": "gzip",
    });
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("application/x-protobuf");
    expect(await source.recorded()).toEqual(anthropic);
  });

  test("What comes in chunks", async () => {
    const source = await makeSource(harness);
    const bytes = toProtobuf("logs", readCapture("claude-code-logs").body);
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const sent = httpRequest(
        `${source.url}/api/otlp/v1/logs`,
        { method: "POST", headers: { ...protobuf, authorization: `Bearer ${source.secret}` } },
        (response) => response.resume().on("end", () => resolve(response.statusCode)),
      );
      sent.on("error", reject);
      for (let at = 0; at < bytes.length; at += 100) sent.write(bytes.slice(at, at + 100));
      sent.end();
    });
    expect(status).toBe(200);
    expect(await source.recorded()).toEqual(anthropic);
  });

  test("Basic credentials with the key as password, on the path of Langfuse's SDKs", async () => {
    const source = await makeSource(harness);
    const basic = Buffer.from(`pk-lf-anything:${source.secret}`).toString("base64");
    await source.accept(readCapture("langfuse-sdk-traces"), {
      path: "/api/public/otel/v1/traces",
      headers: { authorization: `Basic ${basic}` },
    });
    expect(await source.messages()).toHaveLength(2);
  });

  test("An empty export, which gateways send as a test", async () => {
    const source = await makeSource(harness);
    for (const body of ["", "{}", '{"resourceLogs":[]}']) {
      const headers = { "content-type": "application/json", "x-test-connection": "true" };
      const response = await post(source.url, source.secret, body, headers);
      expect(response.status).toBe(200);
      expect(await response.json()).toEqual({});
    }
    const response = await post(source.url, source.secret, new Uint8Array(), protobuf);
    expect(response.status).toBe(200);
    expect((await response.arrayBuffer()).byteLength).toBe(0);
    expect(await source.messages()).toEqual([]);
  });

  test("An export with more calls than one call of the ledger has", async () => {
    const source = await makeSource(harness, { rate_limit_rpm: 1 });
    const spans = Array.from({ length: 1_203 }, (_, index) => ({
      id: (index + 1).toString(16),
      attributes: { ...chatCall, "gen_ai.response.id": `chatcmpl-of-a-unique-name-${index}` },
    }));
    await source.accept(exportSpans(spans), { encoding: "protobuf" });
    expect(await source.messages()).toHaveLength(1_203);
    // It was one request.
    expect((await source.send(exportSpans(spans))).status).toBe(429);
  });
});

describe("The receiver refuses, as OTLP says,", () => {
  test("What is neither JSON nor protobuf", async () => {
    const { url, secret } = await makeSource(harness);
    const response = await post(url, secret, "x", { "content-type": "text/plain" });
    expect(response.status).toBe(415);
    expect(await response.json()).toMatchObject({
      code: 3,
      message: expect.stringContaining("application/x-protobuf"),
    });
  });

  test("Malformed protobuf and JSON, and changes nothing", async () => {
    const source = await makeSource(harness);
    const good = toProtobuf("logs", readCapture("claude-code-logs").body);
    const malformed = await post(source.url, source.secret, good.slice(0, -7), protobuf);
    expect(malformed.status).toBe(400);
    expect(await statusIn(malformed)).toMatchObject({ code: 3 });
    for (const body of ["{", "[]", '{"resourceLogs":1}', '{"resourceLogs":[{"scopeLogs":{}}]}']) {
      const response = await post(source.url, source.secret, body, { "content-type": "application/json" });
      expect(response.status, body).toBe(400);
      expect(await response.json()).toMatchObject({ code: 3 });
    }
    expect(await source.messages()).toEqual([]);
  });

  test("What is larger than 8 MiB, inflated too", async () => {
    const source = await makeSource(harness);
    const large = Buffer.alloc(8 * 1024 * 1024 + 1, " ");
    const plain = await post(source.url, source.secret, large, { "content-type": "application/json" });
    expect(plain.status).toBe(413);
    const response = await post(source.url, source.secret, gzipSync(large), {
      ...protobuf,
      "content-encoding": "gzip",
    });
    expect(response.status).toBe(413);
    expect((await statusIn(response)).message).toContain("8388608");
  });

  test("A body in another encoding than it says", async () => {
    const { url, secret } = await makeSource(harness);
    const response = await post(url, secret, "no gzip", { ...protobuf, "content-encoding": "gzip" });
    expect(response.status).toBe(400);
  });

  test("Callers without a key, before their body is read", async () => {
    const { url } = await makeSource(harness);
    const missing = await post(url, null, "{", { "content-type": "application/json" });
    expect(missing.status).toBe(401);
    expect(missing.headers.get("www-authenticate")).toContain("Bearer");
    expect(await missing.json()).toMatchObject({ code: 16 });
    const wrong = await post(url, "svc_live_wrong", new Uint8Array(), protobuf);
    expect(wrong.status).toBe(401);
    expect(await statusIn(wrong)).toMatchObject({ code: 16 });
    const basic = `Basic ${Buffer.from("pk:sk").toString("base64")}`;
    expect((await post(url, null, "{}", { ...protobuf, authorization: basic })).status).toBe(401);
  });

  test("Revoked keys and addresses that are not allowed", async () => {
    const revoked = await makeSource(harness, { revoked_at: new Date().toISOString() });
    expect((await revoked.send(readCapture("claude-code-logs"))).status).toBe(401);
    const elsewhere = await makeSource(harness, { allowed_cidrs: ["203.0.113.0/24"] });
    expect((await elsewhere.send(readCapture("claude-code-logs"))).status).toBe(403);
    expect(await elsewhere.messages()).toEqual([]);
  });

  test("More exports than the key's rate, with when to try again", async () => {
    const source = await makeSource(harness, { rate_limit_rpm: 1 });
    await source.accept(readCapture("claude-code-logs"));
    const response = await source.send(readCapture("claude-code-logs"), { encoding: "protobuf" });
    expect(response.status).toBe(429);
    expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(await statusIn(response)).toMatchObject({ code: 8 });
  });

  test("Unknown parameters", async () => {
    const source = await makeSource(harness);
    const response = await source.send(readCapture("claude-code-logs"), {
      path: "/api/otlp/v1/logs?project=checkout",
    });
    expect(response.status).toBe(400);
    expect((await response.json()).message).toContain("query.project");
    expect(await source.messages()).toEqual([]);
  });

  test("Other methods", async () => {
    const { url } = await makeSource(harness);
    const response = await fetch(`${url}/api/otlp/v1/traces`);
    expect(response.status).toBe(405);
    expect(response.headers.get("allow")).toBe("POST");
  });
});

describe("What the key may not record is named in partial_success", () => {
  const two = [
    { id: "1", attributes: { ...chatCall, feature: "search" } },
    { id: "2", attributes: { ...chatCall, feature: "chat" } },
  ];

  test("Without log_usage: all of it", async () => {
    const source = await makeSource(harness, { permissions: ["read_summaries"] });
    const response = await source.accept(readCapture("ai-sdk-traces"));
    expect(await response.json()).toEqual({
      partialSuccess: {
        rejectedSpans: "4",
        errorMessage: "4 refused: permission_denied: This API key lacks the permission log_usage.",
      },
    });
    expect(await source.messages()).toEqual([]);
  });

  test("A feature, alone among others", async () => {
    const source = await makeSource(harness, { conditions: { features: ["search"] } });
    const response = await source.accept(exportSpans(two), { encoding: "protobuf" });
    const { partialSuccess } = fromBinary(
      ExportTraceServiceResponseSchema,
      new Uint8Array(await response.arrayBuffer()),
    );
    expect(partialSuccess).toMatchObject({ rejectedSpans: 1n });
    expect(partialSuccess?.errorMessage).toContain("1 refused: feature_not_allowed");
    expect(await source.messages()).toMatchObject([{ feature: "search" }]);
  });

  test("A project, a source and the monthly limit", async () => {
    const refusal = async (options: Parameters<typeof makeSource>[1]) => {
      const source = await makeSource(harness, options);
      const response = await source.accept(readCapture("claude-code-logs"));
      expect(await source.messages()).toEqual([]);
      return (await response.json()).partialSuccess;
    };
    expect(await refusal({ conditions: { deny_project_slugs: ["checkout"] } })).toMatchObject({
      rejectedLogRecords: "1",
      errorMessage: expect.stringContaining("project_not_allowed"),
    });
    expect((await refusal({ conditions: { sources: ["import"] } })).errorMessage).toContain(
      "source_not_allowed",
    );
    expect((await refusal({ monthly_limit: "0.000001" })).errorMessage).toContain("monthly_limit_exceeded");
  });

  test("A time that the ledger does not hold", async () => {
    const source = await makeSource(harness);
    const response = await source.accept(
      exportSpans([{ id: "1", attributes: chatCall }], { endMs: Date.now() + 3_600_000 }),
    );
    expect((await response.json()).partialSuccess).toMatchObject({
      rejectedSpans: "1",
      errorMessage: expect.stringContaining("occurred_at"),
    });
  });
});

describe("A message of an export", () => {
  test("Is usage from the source api, with what the emitter says", async () => {
    const source = await makeSource(harness);
    await source.accept(readCapture("claude-code-logs"));
    expect(await source.messages()).toMatchObject([
      {
        project: "checkout",
        provider: "anthropic",
        model: "claude-opus-4-8",
        source: "api",
        type: "usage",
        occurred_at: new Date("2026-11-21T23:20:56.542Z"),
      },
    ]);
  });

  test.each([
    [
      "the project that it names",
      { "outlay.project": "Checkout Team", project: "other" },
      {},
      "checkout-team",
    ],
    ["the attribute project", { project: "billing" }, {}, "billing"],
    ["the key's only project", {}, { conditions: { project_slugs: ["growth"] } }, "growth"],
    ["its service", {}, { conditions: { deny_project_slugs: ["x"] } }, "shop-api"],
  ] as const)("Counts for %s", async (_, attributes, options, project) => {
    const source = await makeSource(harness, options as Parameters<typeof makeSource>[1]);
    const spans = [{ id: "1", attributes: { ...chatCall, ...attributes } }];
    await source.accept(exportSpans(spans, { service: "Shop API" }));
    expect(await source.messages()).toMatchObject([{ project }]);
  });

  test("Keeps no prompt, answer or secret anywhere in the database", async () => {
    const source = await makeSource(harness);
    const marker = "tell-nobody-of-this";
    const hidden = {
      "gen_ai.input.messages": marker,
      "gen_ai.system_instructions": marker,
      "http.request.header.authorization": marker,
      "ai.prompt": marker,
    };
    await source.accept(exportSpans([{ id: "1", attributes: { ...chatCall, ...hidden } }]));
    expect(await tablesWith(harness.database, marker)).toEqual([]);
  });
});

test("An unknown emitter is counted by the conventions and named in the answer", async () => {
  const source = await makeSource(harness);
  const response = await source.accept(exportSpans([{ id: "1", attributes: chatCall }]));
  expect(await response.json()).toEqual({
    partialSuccess: { errorMessage: expect.stringContaining('the scope "acme" of the service "shop"') },
  });
  expect(await source.recorded()).toEqual({ input_tokens: 10, output_tokens: 5 });
});
