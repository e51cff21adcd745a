import { randomUUID } from "node:crypto";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { wrapAnthropic } from "@/packages/client/src/anthropic";
import { withSharedHarness } from "@/tests/helpers/shared-harness";
import { newOutlay } from "./client";
import { withProviderMock } from "./provider-mock";
import { loadCalls, recordedCalls } from "./recorded-calls";

const harness = withSharedHarness();
const mock = withProviderMock();
const sdk = await loadCalls("anthropic-calls");

/** What the mock says of the input of every call. */
const inputLines = {
  input_tokens: 100,
  cache_read_tokens: 2000,
  cache_write_5m_tokens: 100,
  cache_write_1h_tokens: 200,
};
const recordedCall = {
  provider: "anthropic",
  model: "claude-sonnet-4-6",
  feature: "support",
  lines: { ...inputLines, output_tokens: 40 },
};

let plain: object;
let user: string;
beforeAll(() => {
  plain = new sdk.Anthropic({ apiKey: "k", baseURL: mock.url, maxRetries: 0 });
});
beforeEach(() => {
  user = randomUUID();
});

async function wrap() {
  const started = await newOutlay(harness, harness.services[0]?.baseUrl ?? "");
  const recorded = async () => {
    expect(await started.outlay.flush()).toBe(true);
    expect(started.errors).toEqual([]);
    return recordedCalls(harness, started.workspace);
  };
  return { ...started, client: wrapAnthropic(plain, started.outlay, { feature: "support" }), recorded };
}

test.each(Object.keys(sdk.calls))("Shows the caller the same, and records once: %s", async (name) => {
  const { client, recorded } = await wrap();
  const expected = await sdk.calls[name](plain, user);
  expect(await sdk.calls[name](client, user)).toEqual(expected);
  expect(await recorded()).toEqual([recordedCall]);
});

test("Is of the same class, and leaves the original as it was", async () => {
  const { client, recorded } = await wrap();
  expect(client).toBeInstanceOf(sdk.Anthropic);
  await sdk.calls["a message"](plain, user);
  expect(await recorded()).toEqual([]);
});

test.each([
  ["fails", "broken", false],
  ["fails before its stream", "broken", true],
  ["breaks off in its stream", "cut", true],
  ["fails in its stream", "failing", true],
])("Passes the same error on, and records nothing, when a call %s", async (_, model, stream) => {
  const { client, recorded } = await wrap();
  const expected = await sdk.failingCall(plain, user, model, stream);
  expect(expected).toBeDefined();
  expect(await sdk.failingCall(client, user, model, stream)).toEqual(expected);
  expect(await recorded()).toEqual([]);
});

test("Records the input, and the output so far, of a stream that the caller stops", async () => {
  const { client, recorded } = await wrap();
  const { gone } = mock;
  await sdk.stopEarly(client, user);
  await expect.poll(() => mock.gone, { timeout: 5000 }).toBe(gone + 1);
  expect(await recorded()).toEqual([
    { ...recordedCall, model: "endless", lines: { ...inputLines, output_tokens: 2 } },
  ]);
});
