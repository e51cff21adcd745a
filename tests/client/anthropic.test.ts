import { randomUUID } from "node:crypto";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { wrapAnthropic } from "@/packages/client/src/anthropic";
import { withSharedHarness } from "@/tests/helpers/shared-harness";
import { withProviderMock } from "./provider-mock";
import { loadCalls } from "./recorded-calls";
import { startRecording, testWrappedSdk } from "./wrapped-sdk";

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
  const started = await startRecording(harness);
  return { ...started, client: wrapAnthropic(plain, started.outlay, { feature: "support" }) };
}

testWrappedSdk({
  sdk,
  sdkClass: sdk.Anthropic,
  plain: () => plain,
  user: () => user,
  wrap,
  recordedCall,
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

test("Prices Anthropic's fast mode, and what is written to the cache for an hour", async () => {
  const { client, recorded, workspace } = await wrap();
  await sdk.inFastMode(client, user);
  expect(await recorded()).toEqual([{ ...recordedCall, model: "claude-opus-5-5" }]);
  const { rows } = await harness.fixtures.sql.query(
    "select sum(amount_usd)::text as usd from public.messages where workspace_id = $1",
    [workspace],
  );
  // Twice USD 4, 0.20, 5, 8 and 20 per million tokens: input, cache read, written for 5 minutes and an hour, output.
  const usd = (2 * (100 * 4 + 2000 * 0.2 + 100 * 5 + 200 * 8 + 40 * 20)) / 1e6;
  expect(Number(rows[0].usd)).toBeCloseTo(usd, 12);
});
