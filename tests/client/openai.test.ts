import { randomUUID } from "node:crypto";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { wrapOpenAI } from "@/packages/client/src/openai";
import { withSharedHarness } from "@/tests/helpers/shared-harness";
import { newOutlay } from "./client";
import { withProviderMock } from "./provider-mock";
import { loadCalls, recordedCalls } from "./recorded-calls";
import { startRecording, testWrappedSdk } from "./wrapped-sdk";

const harness = withSharedHarness();
const mock = withProviderMock();
const sdk = await loadCalls("openai-calls");

/** A call of the mock, as it is recorded. */
const recordedCall = {
  provider: "openai",
  model: "gpt-4o-2024-08-06",
  feature: null,
  lines: { input_tokens: 400, cache_read_tokens: 600, output_tokens: 30, output_reasoning_tokens: 20 },
};

describe.each(Object.keys(sdk.versions))("A client of OpenAI's SDK %s, wrapped", (version) => {
  let plain: object;
  let user: string;
  beforeAll(() => {
    plain = new sdk.versions[version]({ apiKey: "k", baseURL: `${mock.url}/v1`, maxRetries: 0 });
  });
  beforeEach(() => {
    user = randomUUID();
  });

  async function wrap(options = {}) {
    const started = await startRecording(harness);
    return { ...started, client: wrapOpenAI(plain, started.outlay, options) };
  }

  testWrappedSdk({
    sdk,
    sdkClass: sdk.versions[version],
    plain: () => plain,
    user: () => user,
    wrap,
    recordedCall,
  });

  test("Records embeddings", async () => {
    const { client, recorded } = await wrap();
    expect(await sdk.embed(client, user)).toEqual(await sdk.embed(plain, user));
    const lines = { input_tokens: 8 };
    expect(await recorded()).toEqual([{ ...recordedCall, model: "text-embedding-3-small", lines }]);
  });

  test("Prices a call as the catalogue does", async () => {
    const { client, recorded, workspace } = await wrap();
    await sdk.calls["a chat completion"](client, user);
    await recorded();
    const { rows } = await harness.fixtures.sql.query(
      "select sum(amount_usd) as usd, array_agg(distinct cost_status) as status from public.messages where workspace_id = $1",
      [workspace],
    );
    // gpt-4o: USD 2.50, 1.25 and 10 per million tokens of uncached input, cached input and output.
    expect(Number(rows[0].usd)).toBe((400 * 2.5 + 600 * 1.25 + 50 * 10) / 1e6);
    expect(rows[0].status).toEqual(["priced"]);
  });

  test("Records how a response was served, and the searches that OpenAI bills", async () => {
    const { client, recorded, workspace } = await wrap();
    await sdk.withTools(client, user, "flex");
    const lines = { ...recordedCall.lines, output_tokens: 50, web_searches: 2, storage_searches: 1 };
    expect(await recorded()).toMatchObject([{ lines: { web_searches: 2, storage_searches: 1 } }]);
    const { rows } = await harness.fixtures.sql.query(
      "select sum(amount_usd)::text as usd, array_agg(distinct details ->> 'service_tier') as tiers from public.messages where workspace_id = $1",
      [workspace],
    );
    // gpt-5 in flex: USD 0.625, 0.0625 and 5 per million tokens; USD 10 and 2.50 for a thousand searches.
    const { input_tokens: input, cache_read_tokens: read, output_tokens: output } = lines;
    const usd = (input * 0.625 + read * 0.0625 + output * 5) / 1e6 + 0.02 + 0.0025;
    expect(Number(rows[0].usd)).toBeCloseTo(usd, 12);
    expect(rows[0].tiers).toEqual(["flex"]);
  });

  test("Records a response made in the background once, however often it is asked for", async () => {
    const { client, recorded } = await wrap();
    await sdk.inBackground(client, user);
    expect(await recorded()).toEqual([recordedCall]);
  });

  test("Records once with the last options when it is wrapped again", async () => {
    const { client, outlay, recorded } = await wrap({ feature: "first" });
    const again = wrapOpenAI(client, outlay, { feature: "search", provider: "azure", project: "other" });
    await sdk.embed(again, user);
    expect(await recorded()).toMatchObject([{ feature: "search", provider: "azure" }]);
  });

  test("Records a call once that the SDK tried twice", async () => {
    const { outlay, recorded } = await wrap();
    const retrying = new sdk.versions[version]({ apiKey: "k", baseURL: `${mock.url}/v1`, maxRetries: 1 });
    expect(await sdk.failingCall(wrapOpenAI(retrying, outlay), user, "flaky", false)).toBeUndefined();
    expect(await recorded()).toMatchObject([{ model: "flaky-2024-08-06" }]);
  });

  test.each(["stopEarly", "abortedCall", "cancelledBody"])(
    "Ends the request of a stream that the caller stops (%s)",
    async (stop) => {
      const { client, recorded } = await wrap();
      const { gone } = mock;
      await sdk[stop](client, user);
      await expect.poll(() => mock.gone, { timeout: 5000 }).toBe(gone + 1);
      expect(await recorded()).toEqual([]);
    },
  );

  test("Asks for the usage of streams, unless told not to, which then are not recorded", async () => {
    const { client, outlay, recorded } = await wrap();
    const call = sdk.calls["a streamed chat completion"];
    await call(client, user);
    expect(mock.requests.at(-1)?.body.stream_options).toEqual({ include_usage: true });
    await call(wrapOpenAI(client, outlay, { includeUsage: false }), randomUUID());
    expect(mock.requests.at(-1)?.body.stream_options).toBeUndefined();
    expect(await recorded()).toHaveLength(1);
  });

  test("Behaves the same when the service is down", async () => {
    const { outlay } = await newOutlay(harness, "http://127.0.0.1:9");
    const client = wrapOpenAI(plain, outlay);
    const call = sdk.calls["a streamed chat completion"];
    expect(await call(client, user)).toEqual(await call(plain, user));
    expect(outlay.counts.queued).toBe(1);
  });
});

test("Refuses what is no client", async () => {
  const { outlay } = await newOutlay(harness, "http://127.0.0.1:9");
  expect(() => wrapOpenAI({}, outlay)).toThrow(TypeError);
});

test("Wraps Azure's client, and records Azure as the provider", async () => {
  const { outlay, workspace } = await newOutlay(harness, harness.services[0]?.baseUrl ?? "");
  const client = new sdk.AzureOpenAI({
    endpoint: "https://example.openai.azure.com",
    apiKey: "k",
    apiVersion: "2024-10-21",
    fetch: (url: string, init: RequestInit) => fetch(mock.url + new URL(url).pathname, init),
  });
  await sdk.calls["a chat completion"](wrapOpenAI(client, outlay), randomUUID());
  await outlay.flush();
  expect(await recordedCalls(harness, workspace)).toEqual([{ ...recordedCall, provider: "azure" }]);
});
