import { createHmac } from "node:crypto";
import type { Harness } from "./harness";
import type { KeyOptions } from "./keys";
import { makeSource } from "./otlp-source";

/** A text that stands for what people wrote; it must appear nowhere. */
export const prompt = "a prompt that is nobody's business";

let calls = 0;

/** What LiteLLM 1.106 sends of a call, without what is not read but for the prompt. 1,200 tokens in, 1,000 of them cached. */
export function liteLlmCall(changes: Record<string, unknown> = {}) {
  calls += 1;
  return {
    id: `chatcmpl-C9f2Kq7Lw1Zp4Xs8Vb3N${calls}`,
    trace_id: "8efd5cb0-acd4-4f57-a74a-ebf06e412d4c",
    session_id: "",
    call_type: "acompletion",
    cache_hit: null,
    status: "success",
    custom_llm_provider: "openai",
    startTime: Date.now() / 1000 - 4,
    endTime: Date.now() / 1000,
    model: "openai/gpt-4o-mini",
    metadata: {
      user_api_key_alias: null,
      user_api_key_user_id: "default_user_id",
      user_api_key_team_alias: null,
      spend_logs_metadata: null,
      requester_metadata: { project: "checkout", feature: "search" },
      usage_object: {
        completion_tokens: 34,
        prompt_tokens: 1200,
        completion_tokens_details: { audio_tokens: null, reasoning_tokens: 10 },
        prompt_tokens_details: { audio_tokens: null, cached_tokens: 1000 },
      },
    },
    response_cost: 0.00012539999999999999,
    response_cost_failure_debug_info: null,
    total_tokens: 1234,
    prompt_tokens: 1200,
    completion_tokens: 34,
    request_tags: ["team:growth", "User-Agent: node"],
    end_user: "ada",
    messages: [{ role: "user", content: prompt }],
    response: { choices: [{ message: { content: prompt } }] },
    model_parameters: { api_key: prompt },
    ...changes,
  };
}

/** What Helicone sends of a call, whose answer is OpenAI's. */
export function heliconeCall(changes: Record<string, unknown> = {}) {
  calls += 1;
  const answer = {
    id: `chatcmpl-D9f2Kq7Lw1Zp4Xs8Vb3N${calls}`,
    object: "chat.completion",
    model: "gpt-4o-mini-2024-07-18",
    choices: [{ message: { content: prompt } }],
    usage: {
      prompt_tokens: 1200,
      completion_tokens: 34,
      prompt_tokens_details: { cached_tokens: 1000 },
      completion_tokens_details: { reasoning_tokens: 10 },
    },
  };
  return {
    request_id: `550e8400-e29b-41d4-a716-${String(calls).padStart(12, "0")}`,
    user_id: "user-123",
    request_body: JSON.stringify({ messages: [{ content: prompt }] }),
    response_body: JSON.stringify(answer),
    request_response_url: "https://bucket.example.com/signed",
    model: "gpt-4o-mini",
    provider: "OPENAI",
    metadata: { cost: 0.0015, promptTokens: 1200, completionTokens: 34, totalTokens: 1234, latencyMs: 1200 },
    ...changes,
  };
}

export function sign(body: string, secret: string): string {
  return createHmac("sha256", secret).update(body).digest("hex");
}

/** A workspace with a key, and gateways that send to it. */
export async function makeGateway(harness: Harness, options: KeyOptions = {}) {
  const source = await makeSource(harness, options);
  const { workspace, url, secret, id } = source;
  const { sql } = harness.fixtures;
  /** Sends text as it is, or a value as JSON. @returns status, body and headers */
  const deliver = async (
    gateway: "litellm" | "openrouter",
    sent: unknown,
    { method = "POST", headers = {} }: { method?: string; headers?: Record<string, string> } = {},
  ) => {
    const body = typeof sent === "string" ? sent : JSON.stringify(sent);
    return read(
      await fetch(`${url}/api/v1/sources/${gateway}`, {
        method,
        headers: { authorization: `Bearer ${secret}`, "content-type": "application/json", ...headers },
        body,
      }),
    );
  };
  const setSecret = async (signingSecret: unknown, method = "PUT") =>
    read(
      await fetch(`${url}/api/v1/sources/helicone/secret`, {
        method,
        headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
        ...(method === "PUT" && { body: JSON.stringify({ secret: signingSecret }) }),
      }),
    );
  /** Sends as Helicone does. `signature`: that of the header; null for none. */
  const deliverSigned = async (body: string, signature: string | null, keyId = id) =>
    read(
      await fetch(`${url}/api/v1/sources/helicone?key_id=${keyId}`, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          ...(signature !== null && { "helicone-signature": signature }),
        },
        body,
      }),
    );
  /** Amounts by unit, exact. */
  const costs = async () => {
    const { rows } = await sql.query(
      "select unit_type, cost_status, sum(amount_usd)::text as amount from public.messages where workspace_id = $1 group by 1, 2 order by 1, 2",
      [workspace],
    );
    return rows as { unit_type: string; cost_status: string; amount: string }[];
  };
  const total = async () => {
    const { rows } = await sql.query(
      "select trim_scale(coalesce(sum(amount_usd), 0))::text as total from public.messages where workspace_id = $1",
      [workspace],
    );
    return rows[0].total as string;
  };
  return { ...source, deliver, deliverSigned, setSecret, costs, total };
}

async function read(response: Response) {
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: JSON.parse(text) };
}
