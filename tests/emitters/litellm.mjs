/*
 * Runs LiteLLM's real proxy against a mock of OpenAI, with its `generic_api` callback set to a running Outlay, or to a
 * listener that prints what LiteLLM sends. Not part of `npm test`. It needs LiteLLM's proxy (tried with 1.106.2):
 *
 *   python3 -m venv /tmp/litellm && /tmp/litellm/bin/pip install 'litellm[proxy]'
 *   node tests/emitters/litellm.mjs --litellm /tmp/litellm/bin/litellm [--format json_array|ndjson|single]
 *     [--endpoint http://127.0.0.1:3000/api/v1/sources/litellm --key svc_live_…]
 *
 * The mock answers each call with 1,200 input tokens, of which 1,000 are cached, and 34 output tokens, of which 10 are of
 * reasoning. Four calls are made: two of a known model, of which the second is answered by LiteLLM's cache, one of a model
 * that LiteLLM cannot price, and one that fails.
 */
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { parseArgs } from "node:util";

const { values } = parseArgs({
  options: {
    litellm: { type: "string", default: "litellm" },
    format: { type: "string", default: "json_array" },
    endpoint: { type: "string" },
    key: { type: "string", default: "" },
  },
});

const usage = {
  prompt_tokens: 1200,
  completion_tokens: 34,
  total_tokens: 1234,
  prompt_tokens_details: { cached_tokens: 1000 },
  completion_tokens_details: { reasoning_tokens: 10 },
};

const listen = (server) =>
  new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server.address().port)));
const readText = async (request) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
};

let answers = 0;
const openAi = createServer(async (request, response) => {
  // LiteLLM also asks for what is there, without a body.
  const { model } = JSON.parse((await readText(request)) || "{}");
  const isFailure = model === "gpt-4o-fails";
  response.writeHead(isFailure ? 400 : 200, { "content-type": "application/json" });
  answers += 1;
  const id = `chatcmpl-${process.pid}x${Date.now()}x${answers}`;
  const message = { role: "assistant", content: "Hello." };
  const answer = isFailure
    ? { error: { message: "no", type: "invalid_request_error" } }
    : {
        id,
        object: "chat.completion",
        created: 1,
        model,
        choices: [{ index: 0, message, finish_reason: "stop" }],
        usage,
      };
  response.end(JSON.stringify(answer));
});

/** Stands between LiteLLM and Outlay, so that what is sent and answered can be printed. */
let deliveries = 0;
let told = 0;
const between = createServer(async (request, response) => {
  const body = await readText(request);
  deliveries += 1;
  const calls = values.format === "single" ? 1 : (body.match(/"litellm_call_id"/g) ?? []).length;
  console.log(
    `\n== delivery ${deliveries}: ${request.method} ${request.headers["content-type"]}, ${body.length} bytes`,
  );
  if (values.endpoint === undefined) {
    console.log(body);
    response.end("{}");
    told += calls;
    return;
  }
  const { authorization = "", "content-type": type = "" } = request.headers;
  const headers = { authorization, "content-type": type };
  const answer = await fetch(values.endpoint, { method: "POST", headers, body });
  const text = await answer.text();
  console.log(`== Outlay: ${answer.status} ${text}`);
  response.writeHead(answer.status, { "content-type": "application/json" });
  response.end(text);
  told += calls;
});

const [openAiPort, betweenPort] = await Promise.all([listen(openAi), listen(between)]);
const free = createServer();
const port = await listen(free);
await new Promise((resolve) => free.close(resolve));

const masterKey = `sk-${randomUUID()}`;
const folder = mkdtempSync(join(tmpdir(), "outlay-litellm-"));
const config = join(folder, "config.yaml");
const model = (name) => `  - model_name: ${name}
    litellm_params:
      model: openai/${name}
      api_base: http://127.0.0.1:${openAiPort}/v1
      api_key: none
`;
writeFileSync(
  config,
  `model_list:
${["gpt-4o-mini", "house-model-nobody-prices", "gpt-4o-fails"].map(model).join("")}litellm_settings:
  callbacks: ["outlay"]
  cache: true
  cache_params:
    type: local
general_settings:
  master_key: ${masterKey}
callback_settings:
  outlay:
    callback_type: generic_api
    endpoint: http://127.0.0.1:${betweenPort}/
    headers:
      Authorization: os.environ/OUTLAY_AUTHORIZATION
    log_format: ${values.format}
`,
);

const command = [values.litellm, "--config", config, "--host", "127.0.0.1", "--port", String(port)];
const proxy = spawn("env", [`OUTLAY_AUTHORIZATION=Bearer ${values.key}`, ...command], {
  stdio: ["ignore", "pipe", "pipe"],
});
const log = [];
for (const stream of [proxy.stdout, proxy.stderr]) stream.on("data", (text) => log.push(String(text)));
const ended = new Promise((resolve) => proxy.on("exit", resolve));

try {
  const base = `http://127.0.0.1:${port}`;
  const isReady = () =>
    fetch(`${base}/health/liveliness`).then(
      ({ ok }) => ok,
      () => false,
    );
  for (let tries = 0; !(await isReady()); tries += 1) {
    if (tries > 180 || proxy.exitCode !== null) throw new Error(`LiteLLM did not start:\n${log.join("")}`);
    await wait(500);
  }
  const call = async (name) => {
    const response = await fetch(`${base}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${masterKey}` },
      body: JSON.stringify({
        model: name,
        user: "ada",
        messages: [{ role: "user", content: "a prompt that is nobody's business" }],
        metadata: { project: "checkout", feature: "search", tags: ["team:growth"] },
      }),
    });
    console.log(`call of ${name}: ${response.status}`);
    await response.text();
  };
  for (const name of ["gpt-4o-mini", "gpt-4o-mini", "house-model-nobody-prices", "gpt-4o-fails"]) {
    await call(name);
    await wait(500);
  }
  // LiteLLM sends what it has every five seconds or every minute, by version; it has no command to send it now.
  for (let seconds = 0; seconds < 75 && told < 4; seconds += 1) await wait(1000);
  console.log(
    log
      .join("")
      .match(/.*(Generic API Logger|version).*/g)
      ?.join("\n") ?? "LiteLLM logged nothing about it.",
  );
} finally {
  proxy.kill();
  await ended;
  for (const server of [openAi, between]) {
    server.close();
    server.closeAllConnections();
  }
  rmSync(folder, { recursive: true, force: true });
}
