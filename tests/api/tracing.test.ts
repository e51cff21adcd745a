import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { apiClient, costMessage } from "@/tests/helpers/client";
import { withHarness } from "@/tests/helpers/harness";

const harness = withHarness({ services: 0 });

/** A collector that keeps the bodies of the requests it receives. */
let collector: Server;
const received: { path: string | undefined; body: Buffer }[] = [];

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
  const traceId = randomBytes(16);
  const traceparent = `00-${traceId.toString("hex")}-${randomBytes(8).toString("hex")}-01`;
  const message = costMessage(
    { metadata: { note: "metadata-of-a-caller" } },
    { project: "project-of-a-caller" },
  );
  const { status } = await apiClient(service.baseUrl, secret).post(message, { traceparent });
  expect(status).toBe(201);
  // The remaining spans are sent before the service ends.
  await service.stop();

  expect(received.map(({ path }) => path)).toContain("/v1/traces");
  const sent = Buffer.concat(received.map(({ body }) => body));
  expect(sent.includes(traceId)).toBe(true);
  for (const name of ["POST /api/v1/messages", "record a group", "database transaction", "outlay"])
    expect(sent.includes(name), name).toBe(true);
  for (const secretText of [secret, "of-a-caller"]) expect(sent.includes(secretText), secretText).toBe(false);
});
