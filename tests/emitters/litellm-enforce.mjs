/*
 * Runs LiteLLM's proxy, as published, with `packages/litellm/outlay_litellm.py` against a mock of the providers and a service of its
 * own: calls by many clients at once, answered as a whole and as streams, until the key's limit refuses. A refused call must not
 * reach the provider, the ledger must have what the provider answered, and nothing may stay held. Then with the service killed. Not
 * part of `npm test`.
 *
 *   node tests/emitters/litellm-enforce.mjs [LITELLM]
 *
 * LITELLM is the program `litellm` of an environment with `pip install 'litellm[proxy]'`; by default that of
 * `npm run test:emitters -- --install`.
 */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { copyFileSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { listenOnLoopback } from "./stage/loopback.mjs";
import { startProviders } from "./stage/providers.mjs";
import { root } from "./stage/root.mjs";
import { startService } from "./stage/service.mjs";
import { pythonBin, startProgram } from "./stage/tools.mjs";

const litellm = process.argv[2] ?? pythonBin("openai-2", "litellm");
if (!existsSync(litellm)) {
  console.log(`skipped: needs ${litellm}: npm run test:emitters -- --install, or name another`);
  process.exit(0);
}

/** USD: room for all of the calls, but for the reservations of only some at a time. */
const limit = 0.5;
const folder = mkdtempSync(join(tmpdir(), "outlay-enforce-"));
const providers = await startProviders({ refuses: false });
const service = await startService();
const source = await service.openWorkspace({ monthly_limit: limit });
const key = `sk-${randomUUID()}`;

copyFileSync(join(root, "packages/litellm/outlay_litellm.py"), join(folder, "outlay_litellm.py"));
writeFileSync(
  join(folder, "config.yaml"),
  `model_list:
  - model_name: small
    litellm_params: { model: openai/gpt-4o-mini, api_base: "${providers.url}/v1", api_key: none }
  - model_name: claude
    litellm_params: { model: anthropic/claude-sonnet-4-5, api_base: "${providers.url}", api_key: none, max_tokens: 100 }
  - model_name: gone
    litellm_params: { model: openai/gpt-4o-mini, api_base: "http://127.0.0.1:9/v1", api_key: none }
litellm_settings:
  callbacks: ["outlay_litellm.enforce"]
  num_retries: 1
general_settings:
  master_key: ${key}
`,
);
const { url, close } = await listenOnLoopback(createServer());
await close();
const proxy = startProgram(
  [litellm, "--config", join(folder, "config.yaml"), "--host", "127.0.0.1", "--port", new URL(url).port],
  {
    cwd: folder,
    env: {
      OUTLAY_URL: source.url,
      OUTLAY_KEY: source.key,
      OUTLAY_WAIT_SECONDS: "5",
      OUTLAY_MAX_OPEN_CALLS: "3",
      LITELLM_LOCAL_MODEL_COST_MAP: "True",
    },
  },
);

/** Waits for a condition as long as the proxy runs, up to two minutes. */
async function until(isMet) {
  for (const endsAt = Date.now() + 120_000; !(await isMet()); await wait(200))
    if (Date.now() > endsAt || proxy.process.exitCode !== null) throw new Error(proxy.output().slice(-4000));
}

/** Calls the proxy. @returns the status, the text of the answer, and how long it took in milliseconds */
async function call(model, { stream = false, content = "Say hello.", max_tokens = 100, id } = {}) {
  const begun = performance.now();
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      authorization: `Bearer ${key}`,
      ...(id && { "x-litellm-call-id": id }),
    },
    body: JSON.stringify({
      ...{ model, max_tokens, messages: [{ role: "user", content }] },
      metadata: { project: "checkout", feature: "greeting" },
      ...(stream && { stream, stream_options: { include_usage: true } }),
    }),
  });
  const text = await response.text().catch((error) => String(error));
  return { status: response.status, text, ms: performance.now() - begun };
}

const headers = { authorization: `Bearer ${source.key}` };
const ownLimit = async () =>
  (await (await fetch(`${source.url}/api/v1/limits`, { headers })).json()).key.monthly_limit;
const isSettled = async () => (await ownLimit()).held_usd === 0;

try {
  await until(() =>
    fetch(`${url}/health/liveliness`).then(
      ({ ok }) => ok,
      () => false,
    ),
  );
  for (const [model, stream] of [
    ...[
      ["small", false],
      ["small", true],
    ],
    ...[
      ["claude", false],
      ["claude", true],
    ],
  ]) {
    const { status, text } = await call(model, { stream });
    assert.equal(status, 200, text);
  }
  await until(async () => (await source.readCalls()).length === 4 && (await isSettled()));
  console.log("4 calls of two providers, half of them streams: recorded and settled");

  // Callers may choose the id by which LiteLLM names a call.
  const same = await Promise.all(Array.from({ length: 4 }, () => call("small", { id: "the-same" })));
  assert.deepEqual(
    same.map(({ status }) => status),
    [200, 200, 200, 200],
  );
  await until(async () => (await source.readCalls()).length === 8 && (await isSettled()));
  console.log("4 calls at a time under one id of LiteLLM's: recorded and settled");

  const before = (await ownLimit()).spent_usd;
  const failed = await call("gone");
  assert.ok(failed.status >= 500, failed.text);
  const cut = await call("small", { stream: true, content: "Break off." });
  await until(isSettled);
  console.log(
    `a provider that is away (${failed.status}) and a stream that breaks off (${cut.status}): nothing is held`,
  );
  const broken = (await ownLimit()).spent_usd - before;

  // Each reserves $0.06, so that at most eight are under way at a time.
  const outcomes = [];
  await Promise.all(
    Array.from({ length: 16 }, async () => {
      for (let number = 0; number < 4; number += 1)
        outcomes.push(await call("small", { max_tokens: 100_000, stream: number % 2 === 1 }));
    }),
  );
  const of = (wanted) => outcomes.filter(({ status }) => status === wanted);
  assert.equal(
    of(200).length + of(402).length,
    outcomes.length,
    JSON.stringify(outcomes.map(({ status }) => status)),
  );
  assert.ok(of(402).length > 0 && of(200).length > 0);
  const answered = providers.answered.filter(({ isCut }) => !isCut).length;
  assert.equal(answered, 8 + of(200).length);
  await until(async () => (await source.readCalls()).length >= answered && (await isSettled()));
  const { spent_usd: spent } = await ownLimit();
  assert.ok(spent <= limit, String(spent));
  console.log(
    `64 calls by 16 clients: ${of(200).length} made, ${of(402).length} refused before the provider, $${spent} of $${limit} spent, nothing held`,
  );
  const { message } = JSON.parse(of(402)[0].text).error;
  assert.match(
    message,
    /^Outlay: This would take the API key past its monthly limit: .* resets on .* Ask for more: http/,
  );
  console.log(`refused with: ${message}`);
  if (broken > 0) console.log(`the stream that broke off was recorded at $${broken}`);

  await service.kill();
  const open = [];
  for (let number = 0; number < 5; number += 1) open.push((await call("small")).status);
  assert.deepEqual(open, [200, 200, 200, 503, 503]);
  console.log("with the service killed: 3 calls are made, as OUTLAY_MAX_OPEN_CALLS allows, then 503");
  await service.start();
  await until(async () => (await source.readCalls()).length >= answered + 3);
  console.log("started again: these 3 calls are recorded");
} catch (error) {
  console.error(proxy.output().slice(-6000));
  throw error;
} finally {
  proxy.process.kill();
  await proxy.ended;
  await service.stop();
  await providers.close();
  rmSync(folder, { recursive: true, force: true });
}
