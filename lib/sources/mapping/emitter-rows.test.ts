import { expect, test } from "vitest";
import { toText } from "@/lib/decimal";
import { mapped, tokensOf } from "@/tests/helpers/mapped-exports";
import { chatCall, exportLogs, exportSpans } from "@/tests/helpers/otlp";

// What is read from the exports of programs and libraries, as their source code or captured exports show them.

/** A dictionary in the notation of LiteLLM 1.109. */
const liteLlmUsage =
  "{'completion_tokens': 27, 'prompt_tokens': 412, 'completion_tokens_details': {'audio_tokens': None, 'reasoning_tokens': 8}, " +
  "'prompt_tokens_details': {'audio_tokens': 0, 'cached_tokens': 256}, 'server_tool_use': None, 'service_tier': 'default'}";

const liteLlmSpan = {
  "metadata.user_api_key_end_user_id": "ada",
  "metadata.user_api_key_user_id": "",
  "metadata.usage_object": liteLlmUsage,
  "metadata.requester_metadata": `{'feature': "Bob's search", 'session_id': 's_1', 'project': 'checkout'}`,
  "metadata.user_api_key_team_alias": "growth",
  "gen_ai.cost.total_cost": "0.0000588",
  "gen_ai.cost.cache_read_cost": "0.0000192",
  "gen_ai.request.model": "gpt-4o-mini",
  "gen_ai.system": "openai",
  "gen_ai.response.id": "chatcmpl-CD8yqQ2y3kZs1o0Wm7bT",
  "gen_ai.response.model": "gpt-4o-mini-2024-07-18",
  "gen_ai.operation.name": "chat",
  "gen_ai.usage.input_tokens": 412,
  "gen_ai.usage.output_tokens": 27,
};

const litellm = { scope: "litellm", service: "proxy" };
const read = (...args: Parameters<typeof exportSpans>) => mapped(exportSpans(...args), "protobuf").records;

test("Reads LiteLLM's spans, with its cost and the counts that it writes as Python does", () => {
  const records = read([{ id: "1", attributes: liteLlmSpan }], litellm);
  expect(records.map(tokensOf)).toEqual([{ input: "156", cacheRead: "256", output: "27", reasoning: "8" }]);
  expect(records).toMatchObject([
    {
      emitter: "litellm",
      provider: "openai",
      isCostTrusted: true,
      user: "ada",
      session: "s_1",
      feature: "Bob's search",
      project: "checkout",
      tags: { team: "growth" },
      tier: undefined,
    },
  ]);
  expect(records.map(({ givenCostUsd }) => givenCostUsd && toText(givenCostUsd))).toEqual(["0.0000588"]);
});

test("Counts nothing that LiteLLM's own cache answered", () => {
  const hit = { ...liteLlmSpan, "litellm.cache_hit": "True" };
  expect(read([{ id: "1", attributes: hit }], litellm)).toEqual([]);
});

test.each(["{'cached_tokens': Wrapper(audio_tokens=1)}", "{'a': ", "'", '"', "{'a': '\\", "None", "[1]"])(
  "Leaves out usage of LiteLLM that nobody can read: %s",
  (usage) => {
    const span = { ...liteLlmSpan, "metadata.usage_object": usage };
    expect(read([{ id: "1", attributes: span }], litellm).map(tokensOf)).toEqual([
      { input: "412", output: "27" },
    ]);
  },
);

test("Reads for how long Claude Code's requests have the cache keep what they write", () => {
  const request = {
    "event.name": "api_request",
    "event.timestamp": "2026-11-24T13:51:25.123Z",
    model: "claude-sonnet-4-5",
    input_tokens: 1932,
    output_tokens: 1289,
    cache_read_tokens: 513,
    cache_creation_tokens: 4688,
    cache_creation_5m_tokens: 1943,
    cache_creation_1h_tokens: 2745,
    request_id: "req_6d35acb4cb24e8ccfcd7c3be",
  };
  const scope = { scope: "com.anthropic.claude_code.events", service: "claude-code" };
  expect(mapped(exportLogs([request], scope), "json").records.map(tokensOf)).toEqual([
    {
      input: "1932",
      cacheRead: "513",
      cacheWrite: "4688",
      cacheWrite5m: "1943",
      cacheWrite1h: "2745",
      output: "1289",
    },
  ]);
});

/** LangSmith 0.15's export of a run of LangChain 1.7 with Anthropic. */
const langSmithSpan = {
  "langsmith.span.kind": "llm",
  "langsmith.metadata.ls_provider": "anthropic",
  "langsmith.metadata.user_id": "ada",
  "langsmith.metadata.session_id": "s_1",
  "langsmith.metadata.usage_metadata": JSON.stringify({
    input_tokens: 1500,
    output_tokens: 34,
    input_token_details: {
      cache_read: 1000,
      cache_creation: 0,
      ephemeral_5m_input_tokens: 100,
      ephemeral_1h_input_tokens: 200,
    },
    output_token_details: { reasoning: 10 },
  }),
  "gen_ai.operation.name": "chat",
  "gen_ai.system": "anthropic",
  "gen_ai.request.model": "claude-sonnet-4-5",
  "gen_ai.usage.input_tokens": 1500,
  "gen_ai.usage.output_tokens": 34,
};
const langsmith = { scope: "langsmith", service: "shop" };

test("Reads LangSmith's spans, with what was cached and for how long", () => {
  const chain = { ...langSmithSpan, "langsmith.span.kind": "chain", "gen_ai.operation.name": "chain" };
  const records = read(
    [
      { id: "1", attributes: chain },
      { id: "2", parent: "1", attributes: langSmithSpan },
    ],
    langsmith,
  );
  expect(records.map(tokensOf)).toEqual([
    {
      input: "200",
      cacheRead: "1000",
      cacheWrite: "300",
      cacheWrite5m: "100",
      cacheWrite1h: "200",
      output: "34",
      reasoning: "10",
    },
  ]);
  expect(records).toMatchObject([
    { emitter: "langsmith", provider: "anthropic", user: "ada", session: "s_1" },
  ]);
});

test("Reads LangSmith's details where Python wrote them, and the tier that they name", () => {
  const { "langsmith.metadata.usage_metadata": _, ...rest } = langSmithSpan;
  const span = {
    ...rest,
    "langsmith.metadata.ls_provider": "openai",
    "gen_ai.request.model": "gpt-5",
    "gen_ai.usage.input_token_details": "{'flex_cache_read': 1000, 'flex': 500}",
    "gen_ai.usage.output_token_details": "{'flex_reasoning': 10, 'flex': 24}",
  };
  const records = read([{ id: "1", attributes: span }], langsmith);
  expect(records.map(tokensOf)).toEqual([{ input: "500", cacheRead: "1000", output: "34", reasoning: "10" }]);
  expect(records).toMatchObject([{ tier: "flex" }]);
});

test("Joins the span of a call that Anthropic exports with that of its SDK", () => {
  const call = {
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "anthropic",
    "gen_ai.request.model": "claude-sonnet-4-5",
    "gen_ai.response.id": "msg_01XFDUDYJgAACzvnptvVoYEL",
    "anthropic.request.id": "req_011CSHoEeqs5C35K2UUqR7Fy",
    "gen_ai.usage.input_tokens": 1500,
    "gen_ai.usage.output_tokens": 34,
    "gen_ai.usage.cache_write.input_tokens": 300,
    "anthropic.usage.cache_creation.ephemeral_1h_input_tokens": 300,
  };
  const own = { ...call, "anthropic.workspace.id": "wrkspc_1" };
  const platform = exportSpans([{ id: "1", attributes: own }], {
    scope: "com.anthropic.claude-platform",
    service: "claude-platform",
  });
  const sdk = exportSpans([{ id: "2", attributes: call }], { scope: "com.anthropic.sdk.typescript" });
  expect(mapped(platform, "protobuf").records).toMatchObject([
    { emitter: "claude-platform", isKnownEmitter: true, tags: { workspace: "wrkspc_1" } },
  ]);
  const both = { resourceSpans: [...platform.body.resourceSpans, ...sdk.body.resourceSpans] };
  expect(mapped({ signal: "traces", body: both }, "protobuf").records.map(tokensOf)).toEqual([
    { input: "1200", cacheWrite: "300", cacheWrite1h: "300", output: "34" },
  ]);
  const test = exportSpans([{ id: "3", attributes: {} }], {
    name: "anthropic.test",
    service: "claude-platform",
  });
  expect(mapped(test, "protobuf")).toMatchObject({ records: [], remarks: [], refused: [], leftOut: [] });
});

test("Reads Qwen Code's answers, whose output has the thoughts in it", () => {
  const answer = {
    "event.name": "qwen-code.api_response",
    "event.timestamp": "2026-11-22T09:00:00.000Z",
    "session.id": "s_1",
    prompt_id: "p_1",
    model: "qwen3-coder-plus",
    response_id: "chatcmpl-0d3f323c-bd38-4075-90ca",
    input_token_count: 1200,
    cached_content_token_count: 1000,
    output_token_count: 34,
    thoughts_token_count: 10,
    total_token_count: 1234,
  };
  const { records } = mapped(exportLogs([answer], { scope: "qwen-code", service: "qwen-code" }), "json");
  expect(records.map(tokensOf)).toEqual([{ input: "200", cacheRead: "1000", output: "34", reasoning: "10" }]);
  expect(records).toMatchObject([{ emitter: "qwen-code", model: "qwen3-coder-plus", session: "s_1" }]);
});

const openInference = (kind: string, more: Record<string, string | number>) => ({
  "openinference.span.kind": kind,
  ...more,
});
const counts = { "llm.token_count.prompt": 300_000, "llm.token_count.completion": 34 };

test("Counts the agent of the Claude Agent SDK, which tells its calls by no other span, without a request's length", () => {
  const agent = openInference("AGENT", {
    ...counts,
    "llm.model_name": "claude-sonnet-4-5",
    "llm.token_count.prompt_details.cache_read": 290_000,
    "llm.cost.total": "0.12",
  });
  const scope = "openinference.instrumentation.claude_agent_sdk";
  const records = read([{ id: "1", attributes: agent }], { scope });
  expect(records.map(tokensOf)).toEqual([{ input: "10000", cacheRead: "290000", output: "34" }]);
  expect(records).toMatchObject([{ requestInput: undefined, isCostTrusted: false }]);
  expect(
    read([{ id: "1", attributes: agent }], { scope: "openinference.instrumentation.smolagents" }),
  ).toEqual([]);
});

test("Counts a reranker's span as one search", () => {
  const rerank = openInference("RERANKER", { "reranker.model_name": "rerank-v3.5", "reranker.top_k": 3 });
  const records = read([{ id: "1", attributes: rerank }], {
    scope: "openinference.instrumentation.langchain",
  });
  expect(records.map(tokensOf)).toEqual([{ rerankSearches: "1" }]);
  expect(records).toMatchObject([{ provider: "cohere", model: "rerank-v3.5" }]);
});

test.each([
  ["USD", "provider", "0.5", true],
  ["usd", "local", "0.5", false],
  ["EUR", "provider", undefined, true],
])("Reads a cost of the proposed conventions in %s by %s", (currency, source, usd, isCostTrusted) => {
  const call = {
    ...chatCall,
    "gen_ai.usage.cost.amount": "0.5",
    "gen_ai.usage.cost.currency": currency,
    "gen_ai.usage.cost.source": source,
  };
  const [record] = read([{ id: "1", attributes: call }]);
  expect(record?.givenCostUsd && toText(record.givenCostUsd)).toBe(usd);
  expect(record?.isCostTrusted).toBe(isCostTrusted);
});

test("Reads whose a call is from OpenInference's metadata", () => {
  const call = openInference("LLM", {
    ...counts,
    metadata: JSON.stringify({ user_id: "ada", feature: "greeting", team: "growth", ls_provider: "openai" }),
  });
  expect(read([{ id: "1", attributes: call }])).toMatchObject([
    { user: "ada", feature: "greeting", tags: { team: "growth" } },
  ]);
});

test("Counts a stream that broke off once, although OpenInference tells a token of output and Anthropic's SDK none", () => {
  const endMs = Date.now();
  const byOpenInference = openInference("LLM", {
    "llm.model_name": "claude-sonnet-4-5",
    "llm.token_count.prompt": 2185,
    "llm.token_count.completion": 1,
    "llm.token_count.prompt_details.cache_write": 471,
  });
  const bySdk = {
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "anthropic",
    "gen_ai.response.id": "msg_4a559d3f667b85ecb4d908aa",
    "gen_ai.response.model": "claude-sonnet-4-5",
    "gen_ai.usage.input_tokens": 2185,
    "gen_ai.usage.cache_write.input_tokens": 471,
    "anthropic.usage.cache_creation.ephemeral_5m_input_tokens": 471,
  };
  const reports = [
    exportSpans([{ id: "1", trace: "a", startMs: endMs - 97, attributes: byOpenInference }], { endMs }),
    exportSpans([{ id: "2", trace: "b", startMs: endMs - 96, attributes: bySdk }], {
      endMs: endMs - 1,
      scope: "com.anthropic.sdk.python",
    }),
  ];
  const resourceSpans = reports.flatMap(({ body }) => body.resourceSpans);
  const { records } = mapped({ signal: "traces", body: { resourceSpans } }, "json");
  expect(records.map(({ emitter }) => emitter)).toEqual(["anthropic-sdk"]);
});
