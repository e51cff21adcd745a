import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { wrapOpenAI } from "@/packages/client/src/openai";
import { withSharedHarness } from "@/tests/helpers/shared-harness";
import { newOutlay } from "./client";
import { withProviderMock } from "./provider-mock";
import { loadCalls, recordedCalls } from "./recorded-calls";

const harness = withSharedHarness();
const mock = withProviderMock();
const sdk = await loadCalls("openai-calls");
const baseUrl = () => harness.services[0]?.baseUrl ?? "";

test.each([
  ["first", true],
  ["last", false],
])("A call that an OpenTelemetry exporter tells %s counts once", async (_, isFirst) => {
  const { outlay, errors, workspace, secret } = await newOutlay(harness, baseUrl());
  const plain = new sdk.versions[7]({ apiKey: "k", baseURL: `${mock.url}/v1` });
  const user = randomUUID();
  const { id } = await sdk.calls["a chat completion"](plain, user);
  const tell = () => exportSpan(secret, id);
  const record = async () => {
    await sdk.calls["a chat completion"](wrapOpenAI(plain, outlay), user);
    expect(await outlay.flush()).toBe(true);
  };
  for (const step of isFirst ? [tell, record] : [record, tell]) await step();
  expect(errors).toEqual([]);
  expect(await recordedCalls(harness, workspace)).toHaveLength(1);
});

/** Exports a span of the GenAI conventions for an answer. */
async function exportSpan(secret: string, responseId: string): Promise<void> {
  const nowNs = `${Date.now()}000000`;
  const attribute = (key: string, value: string | number) => ({
    key,
    value: typeof value === "number" ? { intValue: String(value) } : { stringValue: value },
  });
  const span = {
    traceId: "5b8efff798038103d269b633813fc60c",
    spanId: "eee19b7ec3c1b174",
    name: "chat gpt-4o",
    kind: 3,
    startTimeUnixNano: nowNs,
    endTimeUnixNano: nowNs,
    attributes: [
      attribute("gen_ai.operation.name", "chat"),
      attribute("gen_ai.provider.name", "openai"),
      attribute("gen_ai.response.model", "gpt-4o-2024-08-06"),
      attribute("gen_ai.response.id", responseId),
      attribute("gen_ai.usage.input_tokens", 1000),
      attribute("gen_ai.usage.output_tokens", 50),
    ],
  };
  const resource = { attributes: [attribute("service.name", "checkout")] };
  const response = await fetch(`${baseUrl()}/api/otlp/v1/traces`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${secret}` },
    body: JSON.stringify({
      resourceSpans: [{ resource, scopeSpans: [{ scope: { name: "test" }, spans: [span] }] }],
    }),
  });
  expect(response.status).toBe(200);
}
