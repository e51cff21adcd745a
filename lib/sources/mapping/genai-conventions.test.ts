import fc from "fast-check";
import { expect, test } from "vitest";
import { compare, parseDecimal, sum, toText, zero } from "@/lib/decimal";
import { mapped, tokensOf } from "@/tests/helpers/mapped-exports";
import { chatCall, exportSpans } from "@/tests/helpers/otlp";
import { apart } from "./tokens";

// The counts of spans by OpenTelemetry's GenAI conventions, from any program.

test("Counts an unknown emitter by the conventions and names it", () => {
  const { records, remarks } = mapped(exportSpans([{ id: "1", attributes: chatCall }]), "json");
  expect(records.map(tokensOf)).toEqual([{ input: "10", output: "5" }]);
  expect(records[0]).toMatchObject({ emitter: "opentelemetry", isKnownEmitter: false });
  expect(remarks).toEqual([expect.stringContaining('the scope "acme" of the service "shop"')]);
});

test("Counts a call whose input was all in the cache without any other input", () => {
  const cached = { ...chatCall, "gen_ai.usage.cache_read.input_tokens": 10 };
  const { records } = mapped(exportSpans([{ id: "1", attributes: cached }]), "json");
  expect(records.map(tokensOf)).toEqual([{ cacheRead: "10", output: "5" }]);
});

test("Counts the calls under an agent, and not the agent's sum of them", () => {
  const agent = { ...chatCall, "gen_ai.operation.name": "invoke_agent", "gen_ai.usage.input_tokens": 20 };
  const { records } = mapped(
    exportSpans([
      { id: "1", attributes: agent },
      { id: "2", parent: "1", attributes: chatCall },
      { id: "3", parent: "1", attributes: chatCall },
    ]),
    "json",
  );
  expect(records.map(tokensOf)).toEqual([
    { input: "10", output: "5" },
    { input: "10", output: "5" },
  ]);
});

test("Counts the innermost of nested calls, with what the outer one says about its user", () => {
  const { records } = mapped(
    exportSpans([
      { id: "1", attributes: { ...chatCall, "gen_ai.operation.name": "answer", "user.id": "u_1" } },
      { id: "2", parent: "1", attributes: { "http.method": "POST" } },
      { id: "3", parent: "2", attributes: { ...chatCall, "gen_ai.response.id": "chatcmpl-1" } },
    ]),
    "json",
  );
  expect(records).toHaveLength(1);
  expect(records[0]).toMatchObject({ user: "u_1" });
});

test("Joins what a gateway and an agent tell of one answer", () => {
  const { records } = mapped(
    exportSpans([
      { id: "1", attributes: { ...chatCall, "gen_ai.response.id": "gen-1795303390-abcdefghijkl" } },
      {
        id: "2",
        attributes: {
          ...chatCall,
          "gen_ai.response.id": "gen-1795303390-abcdefghijkl",
          "gen_ai.usage.cache_read.input_tokens": 4,
        },
      },
    ]),
    "json",
  );
  expect(records.map(tokensOf)).toEqual([{ input: "6", cacheRead: "4", output: "5" }]);
});

test("Counts two calls with the same short response id, which local servers repeat, as two", () => {
  const { records } = mapped(
    exportSpans([
      { id: "1", attributes: { ...chatCall, "gen_ai.response.id": "chatcmpl-647" } },
      {
        id: "2",
        attributes: { ...chatCall, "gen_ai.response.id": "chatcmpl-647", "gen_ai.usage.output_tokens": 9 },
      },
    ]),
    "json",
  );
  expect(records).toHaveLength(2);
});

test("Reads the names of the conventions' earlier generations", () => {
  const { records } = mapped(
    exportSpans([
      {
        id: "1",
        attributes: {
          "gen_ai.system": "mistral_ai",
          "gen_ai.request.model": "mistral-large-latest",
          "gen_ai.usage.prompt_tokens": 7,
          "gen_ai.usage.completion_tokens": 3,
        },
      },
    ]),
    "json",
  );
  expect(records[0]).toMatchObject({ provider: "mistral", model: "mistral-large-latest" });
  expect(records.map(tokensOf)).toEqual([{ input: "7", output: "3" }]);
});

test("Takes a cache that is larger than the input as not included in it", () => {
  const { records } = mapped(
    exportSpans([{ id: "1", attributes: { ...chatCall, "gen_ai.usage.cache_read.input_tokens": 1000 } }]),
    "json",
  );
  expect(records.map(tokensOf)).toEqual([{ input: "10", cacheRead: "1000", output: "5" }]);
});

test("Reads OpenRouter's broadcast with what it bills", () => {
  const { records } = mapped(
    exportSpans([
      {
        id: "1",
        attributes: {
          ...chatCall,
          "gen_ai.request.model": "anthropic/claude-sonnet-4.5",
          "trace.metadata.openrouter.api_key_name": "prod",
          "trace.metadata.cost_center": "cc-7",
          "gen_ai.usage.total_cost": "0.0123",
        },
      },
    ]),
    "json",
  );
  expect(records[0]).toMatchObject({
    emitter: "openrouter",
    provider: "openrouter",
    model: "anthropic/claude-sonnet-4.5",
    tags: { cost_center: "cc-7" },
  });
  expect(records[0]?.givenCostUsd?.toString()).toBe("0.0123");
});

test("Counts nothing of a failed call", () => {
  const failed = { ...chatCall, "gen_ai.usage.input_tokens": 0, "gen_ai.usage.output_tokens": 0 };
  expect(mapped(exportSpans([{ id: "1", attributes: failed }]), "json").records).toEqual([]);
});

test("Reads for how long the cache is kept, what a provider's tools did, and how the call was served", () => {
  const call = {
    ...chatCall,
    "gen_ai.usage.input_tokens": 1000,
    "gen_ai.usage.cache_read.input_tokens": 400,
    "gen_ai.usage.cache_write.input_tokens": 300,
    "anthropic.usage.cache_creation.ephemeral_5m_input_tokens": 100,
    "anthropic.usage.cache_creation.ephemeral_1h_input_tokens": 200,
    "anthropic.usage.server_tool_use.web_search_requests": 3,
    "anthropic.response.service_tier": "batch",
  };
  const { records } = mapped(exportSpans([{ id: "1", attributes: call }]), "json");
  expect(records.map(tokensOf)).toEqual([
    {
      input: "300",
      cacheRead: "400",
      cacheWrite: "300",
      cacheWrite5m: "100",
      cacheWrite1h: "200",
      output: "5",
      webSearches: "3",
    },
  ]);
  expect(records[0]).toMatchObject({ tier: "batch", requestInput: parseDecimal("1000") });
});

test("Counts the parts of what was written to the cache where nobody tells the whole", () => {
  const call = {
    ...chatCall,
    "gen_ai.usage.input_tokens": 1000,
    "anthropic.usage.cache_creation.ephemeral_1h_input_tokens": 200,
  };
  const { records } = mapped(exportSpans([{ id: "1", attributes: call }]), "json");
  expect(records.map(tokensOf)).toEqual([
    { input: "800", cacheWrite: "200", cacheWrite1h: "200", output: "5" },
  ]);
});

test.each(["default", "auto", "scale", "standard_only", "constructor"])(
  "Takes a call served as %s for one at the standard price",
  (told) => {
    const call = { ...chatCall, "openai.response.service_tier": told };
    const { records } = mapped(exportSpans([{ id: "1", attributes: call }]), "json");
    expect(records.map(({ tier }) => tier)).toEqual([undefined]);
  },
);

test("Never counts a part beyond its whole, and sums lines to what was told", () => {
  const count = fc.integer({ min: 0, max: 1000 });
  const names = {
    "gen_ai.usage.input_tokens": count,
    "gen_ai.usage.output_tokens": count,
    "gen_ai.usage.cache_read.input_tokens": count,
    "gen_ai.usage.cache_write.input_tokens": count,
    "gen_ai.usage.reasoning.output_tokens": count,
    "anthropic.usage.cache_creation.ephemeral_5m_input_tokens": count,
    "anthropic.usage.cache_creation.ephemeral_1h_input_tokens": count,
    "gen_ai.usage.audio.input_tokens": count,
    "gen_ai.usage.image.input_tokens": count,
    "gen_ai.usage.audio.output_tokens": count,
  };
  fc.assert(
    fc.property(fc.record(names, { requiredKeys: [] }), (attributes) => {
      const { records } = mapped(exportSpans([{ id: "1", attributes }]), "json");
      for (const { tokens } of records) {
        const lines = apart(tokens, () => true);
        const wholes = (["input", "cacheRead", "cacheWrite", "output"] as const).map(
          (kind) => tokens[kind] ?? zero,
        );
        const all = Object.values(lines);
        expect(all.filter((line) => compare(line, zero) < 0)).toEqual([]);
        expect(toText(sum(all))).toBe(toText(sum(wholes)));
      }
    }),
  );
});
