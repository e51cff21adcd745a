import { expect, test } from "vitest";
import { acceptedEnvelopes, readPlainCall } from "@/lib/mcp/plain-call";
import { withSharedHarness } from "../helpers/shared-harness";
import { toolCall } from "../helpers/tool-call";

const harness = withSharedHarness();

type Sent = { body: Record<string, unknown>; headers: Record<string, string> };

const usage = {
  project: "checkout",
  provider: "acme",
  unit_type: "requests",
  quantity: 1,
  estimated_cost: 0.01,
};

const capabilities = "io.modelcontextprotocol/clientCapabilities";
const clientInfo = "io.modelcontextprotocol/clientInfo";

/** A recording whose call can be repeated with the same answer. */
const recording = (meta: Record<string, unknown> = {}, args: Record<string, unknown> = usage): Sent =>
  toolCall("2026", "log_usage", args, { id: "a", meta: { idempotency_key: "k-1", ...meta } });

/** Calls with nothing unusual. */
const plain: Record<string, Sent> = {
  "a recording": recording(),
  "a recording for a person": recording({ idempotency_key: "k-2", "outlay/user": "ann" }),
  "a client that says what it can": recording({
    [capabilities]: { elicitation: { form: {} }, sampling: {} },
    [clientInfo]: { name: "agent", version: "1.2.3" },
  }),
  "arguments that are refused": recording({}, { ...usage, quantity: -1, colour: "red" }),
  "a key of `_meta` that is refused": recording({ "outlay/user": 7 }),
  "no arguments": { ...recording(), ...toolCall("2026", "get_monthly_summary", {}, { id: 7 }) },
};

const withBody = ({ body, headers }: Sent, change: Record<string, unknown>): Sent => ({
  body: { ...body, ...change },
  headers,
});
const withParams = (sent: Sent, change: Record<string, unknown>): Sent =>
  withBody(sent, { params: { ...(sent.body.params as object), ...change } });

/** Calls that the protocol answers in a way of its own or refuses, or that have something unusual. */
const unusual: Record<string, Sent> = {
  "a tool that is not there": withParams(
    { ...recording(), headers: { ...recording().headers, "mcp-name": "log_nothing" } },
    { name: "log_nothing" },
  ),
  "arguments that are no object": withParams(recording(), { arguments: [usage] }),
  "a header that names another tool": {
    ...recording(),
    headers: { ...recording().headers, "mcp-name": "add_expense" },
  },
  "no header that names the tool": {
    ...recording(),
    headers: { ...recording().headers, "mcp-name": "" },
  },
  "a header that names another version": {
    ...recording(),
    headers: { ...recording().headers, "mcp-protocol-version": "2025-11-25" },
  },
  "a header that names another method": {
    ...recording(),
    headers: { ...recording().headers, "mcp-method": "tools/list" },
  },
  "capabilities that are no object": recording({ [capabilities]: "all" }),
  "capabilities of a wrong shape": recording({ [capabilities]: { elicitation: 7 } }),
  "a client without a name": recording({ [clientInfo]: { version: "1" } }),
  "a version that is not known": recording({ "io.modelcontextprotocol/protocolVersion": "2031-01-01" }),
  "another JSON-RPC": withBody(recording(), { jsonrpc: "1.0" }),
  "an id that is no id": withBody(recording(), { id: { a: 1 } }),
  "no id": withBody(recording(), { id: undefined }),
  "a token of progress": recording({ progressToken: { no: "token" } }),
  "answers to questions of the server": withParams(recording(), { inputResponses: 7 }),
};

const json = "application/json";

/** Sends a call. The SDK answers where the type has a parameter. */
async function send(sent: Sent, secret: string, type = json) {
  const response = await fetch(`${harness.services[0]?.baseUrl}/api/mcp`, {
    method: "POST",
    headers: { ...sent.headers, "content-type": type, authorization: `Bearer ${secret}` },
    body: JSON.stringify(sent.body),
  });
  return {
    status: response.status,
    type: response.headers.get("content-type"),
    body: await response.text(),
  };
}

const isPlain = ({ body, headers }: Sent, type = json) =>
  readPlainCall(
    new Request("http://localhost/api/mcp", {
      method: "POST",
      headers: { ...headers, "content-type": type },
    }),
    body,
  ) !== undefined;

test.each(Object.entries(plain))("Answers %s itself, byte for byte as the SDK does", async (_, sent) => {
  const { secret } = await harness.fixtures.key(await harness.fixtures.workspace(), {
    permissions: ["log_usage", "read_summaries"],
  });
  expect([isPlain(sent), isPlain(sent, `${json}; charset=utf-8`)]).toEqual([true, false]);
  // The first call records; the others repeat its answer.
  await send(sent, secret);
  const answer = await send(sent, secret);
  expect(answer.status).toBe(200);
  expect(await send(sent, secret, `${json}; charset=utf-8`)).toEqual(answer);
});

test.each(Object.entries(unusual))("Answers %s as the SDK does", async (_, sent) => {
  const { secret } = await harness.fixtures.key(await harness.fixtures.workspace(), {
    permissions: ["log_usage", "read_summaries"],
  });
  await send(sent, secret);
  expect(await send(sent, secret)).toEqual(await send(sent, secret, `${json}; charset=utf-8`));
});

test("Remembers a bounded number of envelopes, none of them long, whatever clients say of themselves", () => {
  const named = (name: string) => {
    const sent = recording();
    const { params } = sent.body as { params: { _meta: Record<string, unknown> } };
    const info = { name, version: "1" };
    return {
      ...sent,
      body: {
        ...sent.body,
        params: { ...params, _meta: { ...params._meta, "io.modelcontextprotocol/clientInfo": info } },
      },
    };
  };
  expect(isPlain(named("short"))).toBe(true);
  expect(isPlain(named("n".repeat(2_000)))).toBe(false);
  let most = 0;
  for (let client = 0; client < 1_100; client += 1) {
    expect(isPlain(named(`client ${client}`))).toBe(true);
    most = Math.max(most, acceptedEnvelopes());
  }
  expect(most).toBe(1_000);
});
