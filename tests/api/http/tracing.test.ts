import { randomBytes, randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Answer, apiClient, costMessage, signUpUser } from "@/tests/helpers/client";
import { withHarness } from "@/tests/helpers/harness";
import { toolCall } from "@/tests/helpers/tool-call";

const harness = withHarness({ services: 0 });

/** A collector that keeps the bodies of the requests it receives. */
let collector: Server;
const received: { path: string | undefined; body: Buffer }[] = [];

/** A trace of a caller: its id, the span that calls, and the header that names both. @param flags `01`: sampled, `00`: not */
function callersTrace(flags: "00" | "01") {
  const id = randomBytes(16);
  const span = randomBytes(8);
  return { id, span, headers: { traceparent: `00-${id.toString("hex")}-${span.toString("hex")}-${flags}` } };
}

const countOf = (part: Buffer, whole: Buffer) =>
  whole.toString("latin1").split(part.toString("latin1")).length - 1;

beforeAll(async () => {
  collector = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    received.push({ path: request.url, body: Buffer.concat(chunks) });
    response.writeHead(200, { "Content-Type": "application/x-protobuf" }).end();
  }).listen(0, "127.0.0.1");
  await once(collector, "listening");
});

afterAll(() => collector.close());

test("Sends spans of a request, its group and its transaction in the caller's trace, with no secret and no metadata", async () => {
  const { port } = collector.address() as AddressInfo;
  const service = await harness.start({ OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` });
  const workspace = await harness.fixtures.workspace();
  const { secret } = await harness.fixtures.key(workspace);
  const trace = callersTrace("01");
  const message = costMessage(
    { metadata: { note: "metadata-of-a-caller" } },
    { project: "project-of-a-caller" },
  );
  const { status } = await apiClient(service.baseUrl, secret).post(message, trace.headers);
  expect(status).toBe(201);
  // The remaining spans are sent before the service ends.
  await service.stop();

  expect(received.map(({ path }) => path)).toContain("/v1/traces");
  const sent = Buffer.concat(received.map(({ body }) => body));
  expect(sent.includes(trace.id)).toBe(true);
  for (const name of ["POST /api/v1/messages", "record a group", "database transaction", "outlay"])
    expect(sent.includes(name), name).toBe(true);
  for (const secretText of [secret, "of-a-caller"]) expect(sent.includes(secretText), secretText).toBe(false);
});

test("Sends the transactions of every kind of request in the caller's trace, and nothing of a request that is not sampled", async () => {
  received.splice(0);
  const { port } = collector.address() as AddressInfo;
  const service = await harness.start({ OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` });
  const slug = `w-${randomUUID()}`;
  const workspace = await harness.fixtures.workspace(slug);
  const { secret } = await harness.fixtures.key(workspace);
  const user = await signUpUser(service.baseUrl);
  await harness.fixtures.sql.query(
    "insert into public.workspace_members (workspace_id, user_id, role) values ($1, $2, 'viewer')",
    [workspace, user.id],
  );
  const byKey = apiClient(service.baseUrl, secret);
  // The first message of a database creates the month's partition.
  expect((await byKey.post(costMessage())).status).toBe(201);
  const byUser = apiClient(service.baseUrl, user.token);
  const tool = toolCall("2026", "get_monthly_summary", {});
  const sends: Record<string, (headers: Record<string, string>) => Promise<Answer>> = {
    "a message": (headers) => byKey.post(costMessage(), headers),
    "a summary": (headers) => byKey.call("GET", "/api/v1/summary/month", undefined, headers),
    "a project's spend": (headers) =>
      byKey.call("GET", "/api/v1/projects/checkout/spend", undefined, headers),
    "a user's read": (headers) =>
      byUser.call("GET", `/api/v1/workspaces/${slug}/metrics`, undefined, headers),
    "a tool call": (headers) => byKey.call("POST", "/api/mcp", tool.body, { ...tool.headers, ...headers }),
  };
  const sampled = Object.entries(sends).map(([name, send]) => ({ name, send, trace: callersTrace("01") }));
  const unsampled = Object.values(sends).map((send) => ({ send, trace: callersTrace("00") }));
  for (const { send, trace } of [...sampled, ...unsampled])
    expect((await send(trace.headers)).status).toBeLessThan(300);
  await service.stop();

  const sent = Buffer.concat(received.map(({ body }) => body));
  const spans = sampled.map(({ name, trace }) => [name, countOf(trace.id, sent), countOf(trace.span, sent)]);
  // Each with the request's span, whose parent is the caller's, and that of its group or its reads, and of a call of a tool both. Metrics are read
  // with their tag.
  expect(spans).toEqual([
    ["a message", 3, 1],
    ["a summary", 3, 1],
    ["a project's spend", 3, 1],
    ["a user's read", 2, 1],
    ["a tool call", 3, 1],
  ]);
  expect(unsampled.map(({ trace }) => countOf(trace.id, sent))).toEqual(unsampled.map(() => 0));
});
