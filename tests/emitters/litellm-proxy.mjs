import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { listenOnLoopback } from "./stage/loopback.mjs";
import { pythonBin, startProgram } from "./stage/tools.mjs";

const venv = "openai-2";

/** LiteLLM's proxy, which tells by its callback `generic_api` in each of that one's formats. */
const trial = (format) => ({
  name: `LiteLLM's proxy, generic_api, ${format}`,
  packages: [`python:${venv}/litellm`],
  // It tells attempts that failed, too, and drops the call that ends while it sends one.
  refuses: false,
  inexact: "LiteLLM's figure is recorded as it is: a sum of floats, off after the 16th digit",
  run: async ({ providers, source, folder }) => {
    const key = `sk-${randomUUID()}`;
    const config = join(folder, "config.yaml");
    writeFileSync(config, settings({ providers, source, key, format }));
    const { url, close } = await listenOnLoopback(createServer());
    await close();
    const { port } = new URL(url);
    const proxy = startProgram(
      [pythonBin(venv, "litellm"), "--config", config, "--host", "127.0.0.1", "--port", port],
      {
        env: {
          OUTLAY_AUTHORIZATION: `Bearer ${source.key}`,
          LITELLM_LOCAL_MODEL_COST_MAP: "True",
          DEFAULT_FLUSH_INTERVAL_SECONDS: "1",
        },
      },
    );
    try {
      await until(proxy, () =>
        fetch(`${url}/health/liveliness`).then(
          ({ ok }) => ok,
          () => false,
        ),
      );
      let calls = 0;
      for (const model of ["gpt-4o-mini", "claude-sonnet-4-5"]) {
        for (const stream of [false, true, false, true]) {
          await call(url, key, { model, stream });
          calls += 1;
          // LiteLLM drops the calls that end while it sends others (`async_send_batch` clears its queue after the answer).
          await until(proxy, async () => (await source.readCalls()).length >= calls);
        }
      }
      return proxy.output();
    } finally {
      proxy.process.kill();
      await proxy.ended;
    }
  },
});

const settings = ({ providers, source, key, format }) => `model_list:
  - model_name: gpt-4o-mini
    litellm_params: { model: openai/gpt-4o-mini, api_base: "${providers}/v1", api_key: none }
  - model_name: claude-sonnet-4-5
    litellm_params: { model: anthropic/claude-sonnet-4-5, api_base: "${providers}", api_key: none, max_tokens: 100 }
litellm_settings:
  callbacks: ["outlay"]
  num_retries: 3
general_settings:
  master_key: ${key}
callback_settings:
  outlay:
    callback_type: generic_api
    endpoint: ${source.url}/api/v1/sources/litellm
    headers:
      Authorization: os.environ/OUTLAY_AUTHORIZATION
    log_format: ${format}
    max_retries: 5
    retry_delay: 1
`;

/** Waits for a condition as long as the proxy runs, up to two minutes. */
async function until({ process, output }, isMet) {
  for (const endsAt = Date.now() + 120_000; !(await isMet()); await wait(500))
    if (Date.now() > endsAt || process.exitCode !== null) throw new Error(output().slice(-4000));
}

async function call(url, key, { model, stream }) {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
    body: JSON.stringify({
      model,
      user: "ada",
      messages: [{ role: "user", content: "Say hello." }],
      metadata: { project: "checkout", feature: "greeting" },
      ...(stream && { stream, stream_options: { include_usage: true } }),
    }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`LiteLLM answered ${response.status}: ${text}`);
}

export default ["json_array", "ndjson", "single"].map(trial);
