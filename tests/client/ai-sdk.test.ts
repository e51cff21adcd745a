import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeEach, describe, expect, test } from "vitest";
import { outlayMiddleware } from "@/packages/client/src/ai-sdk";
import { projectRoot } from "@/tests/helpers/project-root";
import { withSharedHarness } from "@/tests/helpers/shared-harness";
import { newOutlay } from "./client";
import { withProviderMock } from "./provider-mock";
import { loadCalls, providersFolder, recordedCalls } from "./recorded-calls";

const harness = withSharedHarness();
const mock = withProviderMock();
const sdk = await loadCalls("ai-sdk-calls");

const openai = {
  provider: "openai",
  model: "gpt-4o-2024-08-06",
  feature: "chat",
  lines: { input_tokens: 400, cache_read_tokens: 600, output_tokens: 30, output_reasoning_tokens: 20 },
};
const anthropic = {
  provider: "anthropic",
  model: "claude-sonnet-4-6",
  feature: "chat",
  lines: {
    input_tokens: 100,
    cache_read_tokens: 2000,
    cache_write_5m_tokens: 100,
    cache_write_1h_tokens: 200,
    output_tokens: 40,
  },
};
const models = {
  "OpenAI's responses": openai,
  "OpenAI's chat completions": openai,
  "Anthropic's messages": anthropic,
};

describe.each(Object.keys(sdk.versions))("The middleware in the AI SDK %s", (number) => {
  const version = sdk.versions[number];
  let prompt: string;
  beforeEach(() => {
    prompt = randomUUID();
  });

  async function start() {
    const started = await newOutlay(harness, harness.services[0]?.baseUrl ?? "");
    const middleware = outlayMiddleware(started.outlay, { feature: "chat" });
    const recorded = async () => {
      expect(await started.outlay.flush()).toBe(true);
      expect(started.errors).toEqual([]);
      return recordedCalls(harness, started.workspace);
    };
    const plain = sdk.modelsOf(version, mock.url, (model: unknown) => model);
    const wrapped = sdk.modelsOf(version, mock.url, (model: unknown) =>
      version.ai.wrapLanguageModel({ model, middleware }),
    );
    return { plain, wrapped, recorded };
  }

  describe.each(Object.entries(models))("With %s", (name, expected) => {
    test.each(["generate", "stream"])("Shows the caller the same, and records once (%s)", async (call) => {
      const { plain, wrapped, recorded } = await start();
      const seen = await sdk[call](version, plain[name](), prompt);
      expect(await sdk[call](version, wrapped[name](), prompt)).toEqual(seen);
      expect(await recorded()).toEqual([expected]);
    });

    test("Passes errors on and records nothing", async () => {
      const { wrapped, recorded } = await start();
      await expect(sdk.generate(version, wrapped[name]("broken"), prompt)).rejects.toThrow("It broke.");
      await sdk.stream(version, wrapped[name]("cut"), prompt).catch(() => {});
      await sdk.stream(version, wrapped[name]("failing"), prompt).catch(() => {});
      expect(await recorded()).toEqual([]);
    });

    test("Records nothing of a stream that the caller stops, and ends its request", async () => {
      const { wrapped, recorded } = await start();
      const { gone } = mock;
      await sdk.stopEarly(version, wrapped[name]("endless"), prompt);
      await expect.poll(() => mock.gone, { timeout: 5000 }).toBe(gone + 1);
      expect(await recorded()).toEqual([]);
    });
  });
});

test.each([["error"], [{ unified: "error", raw: "overloaded" }]])(
  "A stream whose provider tells usage with an error (%j) is not recorded",
  async (finishReason) => {
    const { outlay } = await newOutlay(harness, harness.services[0]?.baseUrl ?? "");
    const usage = { inputTokens: 10, outputTokens: 5, totalTokens: 15 };
    const parts = [
      { type: "error", error: "overloaded" },
      { type: "finish", finishReason, usage },
    ];
    const source = new ReadableStream({
      start(controller) {
        for (const part of parts) controller.enqueue(part);
        controller.close();
      },
    });
    const { stream } = await outlayMiddleware(outlay).wrapStream({
      doStream: async () => ({ stream: source }),
      model: { provider: "openai.chat", modelId: "gpt-4o" },
    });
    const seen: unknown[] = [];
    for await (const part of stream) seen.push(part);
    expect(seen).toEqual(parts);
    expect(outlay.counts.queued).toBe(0);
  },
);

// Version 5 has no middleware for embeddings.
test.each(["6", "7"])("The middleware in the AI SDK %s records embeddings", async (number) => {
  const { outlay, workspace } = await newOutlay(harness, harness.services[0]?.baseUrl ?? "");
  await sdk.embed(sdk.versions[number], mock.url, outlayMiddleware(outlay, { feature: "chat" }));
  expect(await outlay.flush()).toBe(true);
  expect(await recordedCalls(harness, workspace)).toEqual([
    { provider: "openai", model: "text-embedding-3-small", feature: "chat", lines: { input_tokens: 8 } },
  ]);
});

test("The wrappers have the types of what they wrap", { timeout: 120_000 }, async () => {
  const tsc = join(projectRoot, "node_modules/typescript/bin/tsc");
  const compiled = promisify(execFile)(process.execPath, [tsc, "--project", providersFolder]);
  await expect(compiled).resolves.toMatchObject({ stdout: "" });
});
