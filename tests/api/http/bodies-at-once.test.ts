import { gzipSync } from "node:zlib";
import { fromBinary } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { ExportTraceServiceResponseSchema } from "@/lib/sources/otlp/proto/opentelemetry/proto/collector/trace/v1/trace_service_pb";
import { liteLlmCall, makeGateway } from "@/tests/helpers/gateways";
import { chatCall, exportSpans, type TestSpan, toProtobuf } from "@/tests/helpers/otlp";
import { makeSource } from "@/tests/helpers/otlp-source";
import { withSharedHarness } from "@/tests/helpers/shared-harness";

// What one caller sends is bounded, and delays nobody else.

const harness = withSharedHarness();

const idOf = (index: number) => (index + 1).toString(16);

/** Spans of which each is inside the one before. */
const chain = (length: number) =>
  exportSpans(
    Array.from(
      { length },
      (_, index): TestSpan => ({
        id: idOf(index),
        ...(index > 0 && { parent: idOf(index - 1) }),
        attributes: chatCall,
      }),
    ),
  );

const zipped = (
  source: Awaited<ReturnType<typeof makeSource>>,
  path: string,
  body: string | Uint8Array,
  type: string,
) =>
  fetch(source.url + path, {
    method: "POST",
    headers: { authorization: `Bearer ${source.secret}`, "content-type": type, "content-encoding": "gzip" },
    body: new Uint8Array(gzipSync(body)),
  });

/** Asks for the health until the answer is there. @returns how often it was answered before */
async function healthMeanwhile(url: string, answer: Promise<Response>): Promise<number> {
  let isAnswered = false;
  const done = answer.finally(() => {
    isAnswered = true;
  });
  let count = 0;
  while (!isAnswered) {
    expect((await fetch(`${url}/api/health`)).status).toBe(200);
    if (!isAnswered) count += 1;
  }
  await done;
  return count;
}

describe("Others are answered while the service reads", () => {
  test("A chain of 9,000 spans, which is one call", async () => {
    const source = await makeSource(harness);
    const answer = zipped(
      source,
      "/api/otlp/v1/traces",
      JSON.stringify(chain(9_000).body),
      "application/json",
    );
    expect(await healthMeanwhile(source.url, answer)).toBeGreaterThan(0);
    expect((await answer).status).toBe(200);
    expect(await source.recorded()).toEqual({ input_tokens: 10, output_tokens: 5 });
    // Any span around it is the same call, also when it comes later and alone.
    for (const place of [0, 4_500, 8_998])
      await source.accept(exportSpans([{ id: idOf(place), attributes: chatCall }]));
    expect(await source.messages()).toHaveLength(1);
  });

  test("8 MiB of empty spans", async () => {
    const source = await makeSource(harness);
    const span = Buffer.from([0x12, 0]);
    const field = (number: number, content: Buffer) => {
      const length = [];
      let rest = content.length;
      for (; rest > 127; rest = Math.floor(rest / 128)) length.push((rest % 128) | 128);
      return Buffer.concat([Buffer.from([(number << 3) | 2, ...length, rest]), content]);
    };
    const spans = Buffer.alloc(8 * 1024 * 1024 - 64, span);
    const answer = zipped(source, "/api/otlp/v1/traces", field(1, field(2, spans)), "application/x-protobuf");
    expect(await healthMeanwhile(source.url, answer)).toBeGreaterThan(0);
    const { partialSuccess } = fromBinary(
      ExportTraceServiceResponseSchema,
      new Uint8Array(await (await answer).arrayBuffer()),
    );
    expect(partialSuccess?.rejectedSpans).toBe(BigInt(spans.length / 2 - 20_000));
    expect(partialSuccess?.errorMessage).toContain("payload_too_large: One export may have 20000 records");
  });

  test("A bulk call whose batches have 20,000 items, and refuses those beyond", async () => {
    const source = await makeSource(harness);
    const items = Array.from({ length: 1_000 }, () => ({
      unit_type: "requests",
      quantity: 1,
      estimated_cost: 0,
    }));
    const message = { type: "batch", provider: "acme", batch_id: "b", items };
    const one = { project: "p", source: "api", message };
    const single = {
      ...one,
      message: { type: "usage", provider: "acme", unit_type: "requests", quantity: 1 },
    };
    const messages = [...Array.from({ length: 19 }, () => one), single, one, single];
    const body = JSON.stringify({ messages });
    const answer = zipped(source, "/api/v1/messages/batch?dry_run=true", body, "application/json");
    expect(await healthMeanwhile(source.url, answer)).toBeGreaterThan(0);
    const { results } = await (await answer).json();
    expect(results.map(({ status }: { status: number }) => status)).toEqual([
      ...Array.from({ length: 20 }, () => 201),
      400,
      201,
    ]);
    expect(results[20].error_description).toContain("one call may record 20000");
  });
});

test("A large body of a workspace is decoded once its last one is answered, and another workspace's beside it", async () => {
  const [own, other] = [await makeSource(harness), await makeSource(harness)];
  const large = (source: typeof own, tag: string) => {
    const spans = Array.from({ length: 1_500 }, (_, index) => ({
      id: idOf(index),
      trace: tag,
      attributes: { ...chatCall, "gen_ai.response.id": `chatcmpl-of-a-unique-name-${tag}-${index}` },
    }));
    return source.accept(exportSpans(spans), { encoding: "json" });
  };
  await Promise.all([large(own, "a1"), large(own, "a2"), large(own, "a3"), large(other, "b1")]);
  expect(await own.messages()).toHaveLength(4_500);
  expect(await other.messages()).toHaveLength(1_500);
});

test("What waits for a turn is not recorded once its caller has disconnected", async () => {
  const gateway = await makeGateway(harness);
  // The first delivery waits for the project that another transaction creates, and keeps its turn.
  const other = await harness.fixtures.sql.connect();
  await other.query("begin");
  await other.query(
    "insert into public.projects (workspace_id, slug, name) values ($1, 'checkout', 'Checkout')",
    [gateway.workspace],
  );
  const body = () => JSON.stringify([liteLlmCall({ messages: "x".repeat(300 * 1024) })]);
  const caller = new AbortController();
  const send = (signal?: AbortSignal) =>
    fetch(`${gateway.url}/api/v1/sources/litellm`, {
      method: "POST",
      headers: { authorization: `Bearer ${gateway.secret}`, "content-type": "application/json" },
      body: body(),
      signal: signal ?? null,
    });
  const sent = Array.from({ length: 10 }, () => send(caller.signal));
  // One works, eight wait, and the tenth is told so.
  expect((await Promise.race(sent)).status).toBe(503);
  caller.abort();
  await Promise.allSettled(sent);
  // Answered by the process that was told of the closed connections before.
  for (let round = 0; round < 3; round += 1) await fetch(`${gateway.url}/api/health`);
  await other.query("rollback");
  other.release();
  await expect.poll(async () => (await send()).status).toBe(200);
  expect(await gateway.messages()).toHaveLength(2);
});

test("A body of more values than its route takes is refused with the limit, before it is validated", async () => {
  const source = await makeSource(harness);
  const post = (path: string, body: string) => zipped(source, path, body, "application/json");
  for (const [path, body, limit] of [
    ["/api/v1/messages/batch", `{"messages":[${Array(100_000).fill("[]").join()}]}`, 150_000],
    [
      "/api/v1/messages",
      `{"metadata":{${Array.from({ length: 6_000 }, (_, at) => `"f${at}":1`).join()}}}`,
      50_000,
    ],
    ["/api/v1/messages", "[".repeat(200), 50_000],
    ["/api/v1/sources/litellm", `[${Array(60_000).fill("{}").join()}]`, 500_000],
  ] as const) {
    const response = await post(path, body);
    expect(response.status, path).toBe(413);
    expect(await response.json()).toMatchObject({ error: "payload_too_large", limit_values: limit });
  }
  const spans = `{"resourceSpans":[{"scopeSpans":[{"spans":[${Array(1_000_001).fill("{}").join()}]}]}]}`;
  expect((await post("/api/otlp/v1/traces", spans)).status).toBe(413);
});

test("A problem in each of many values is named with the first hundred", async () => {
  const source = await makeSource(harness);
  const fields = Array.from({ length: 1_000 }, (_, at) => `"f${at}":1`).join();
  const response = await zipped(source, "/api/v1/messages", `{${fields}}`, "application/json");
  const { issues, error_description: text } = await response.json();
  expect(issues).toHaveLength(100);
  expect(text).toMatch(/and 1\d\d\d more|and \d{3} more/);
});

describe("A value that cannot be read refuses its record alone", () => {
  const spans = (attribute: object) => {
    const sent = exportSpans([
      { id: "1", attributes: { ...chatCall, "gen_ai.response.id": "chatcmpl-of-a-unique-name-1" } },
      { id: "2", attributes: chatCall },
      { id: "3", attributes: { ...chatCall, "gen_ai.response.id": "chatcmpl-of-a-unique-name-3" } },
    ]);
    const [, second] = sent.body.resourceSpans[0]?.scopeSpans[0]?.spans ?? [];
    if (second) second.attributes = [...second.attributes.slice(0, 3), attribute as never];
    return sent;
  };
  const tokens = (value: object) => ({ key: "gen_ai.usage.input_tokens", value });

  test.each([
    [
      "text in the place of a whole number",
      tokens({ intValue: "ten" }),
      "gen_ai.usage.input_tokens must be a whole number",
    ],
    [
      "ten and a half tokens",
      tokens({ doubleValue: 10.5 }),
      "a count of tokens that is not a whole number: gen_ai.usage.input_tokens",
    ],
    [
      "ten and a half as a whole number",
      tokens({ intValue: 10.5 }),
      "gen_ai.usage.input_tokens must be a whole number",
    ],
    ["an attribute that is none", "text", "must be an object"],
  ])("%s", async (_, attribute, reason) => {
    const source = await makeSource(harness);
    const response = await source.accept(spans(attribute as object));
    expect((await response.json()).partialSuccess).toMatchObject({
      rejectedSpans: "1",
      errorMessage: expect.stringContaining(reason),
    });
    expect(await source.messages()).toHaveLength(2);
  });

  test("Half a token in protobuf, of a span and of a metric", async () => {
    const source = await makeSource(harness);
    const sent = spans(tokens({ doubleValue: 10.5 }));
    const response = await source.accept(sent, { encoding: "protobuf" });
    const bytes = new Uint8Array(await response.arrayBuffer());
    expect(fromBinary(ExportTraceServiceResponseSchema, bytes).partialSuccess?.rejectedSpans).toBe(1n);
    expect(toProtobuf("traces", sent.body).length).toBeGreaterThan(0);
    expect(await source.messages()).toHaveLength(2);
  });
});
