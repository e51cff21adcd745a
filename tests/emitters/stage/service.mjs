/*
 * The service under test: its own process and its own empty Postgres, used as a customer uses it, over HTTP alone.
 */
import { execFile, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { parse } from "csv-parse/sync";
import { listenOnLoopback } from "./loopback.mjs";
import { parseUsd } from "./prices.mjs";
import { root } from "./root.mjs";

/**
 * Starts the service in an empty data folder.
 * @returns `{ openWorkspace, openDemo, kill, start, stop }`; `kill` is kill -9, and `start` listens at the same address again
 */
export async function startService() {
  await promisify(execFile)(process.execPath, ["scripts/build.mjs", "--bundles"], { cwd: root });
  const dataDir = mkdtempSync(join(tmpdir(), "outlay-emitters-"));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  let child;
  const start = async () => {
    child = await startProcess(dataDir, port);
  };
  const end = async (signal) => {
    const gone = once(child, "exit");
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill(signal);
    await gone;
  };
  await start();
  return {
    openWorkspace: (settings) => openWorkspace(url, settings),
    openDemo: () => openDemo(url, dataDir),
    start,
    kill: () => end("SIGKILL"),
    stop: async () => {
      await end("SIGTERM");
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

async function freePort() {
  const { url, close } = await listenOnLoopback(createServer());
  await close();
  return new URL(url).port;
}

async function startProcess(dataDir, port) {
  const child = spawn(process.execPath, ["dist/server.mjs"], {
    cwd: root,
    env: {
      ...process.env,
      NODE_ENV: "production",
      PORT: port,
      OUTLAY_PAGES: "off",
      OUTLAY_DATA_DIR: dataDir,
      LOG_LEVEL: "error",
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  for await (const line of createInterface({ input: child.stdout })) {
    if (!/ready\b.*http:/.test(line)) continue;
    child.stdout.resume();
    return child;
  }
  throw new Error("The service ended before it was ready.");
}

/**
 * Signs a user up and makes a key with the permission `log_usage` in their workspace.
 * @param settings of the key, besides
 * @returns `{ url, otlp, key, slug, token, readCalls }`
 */
async function openWorkspace(url, settings = {}) {
  const { token, slug } = await signUp(url);
  const key = await makeKey(url, slug, token, settings);
  return { url, otlp: `${url}/api/otlp`, key, slug, token, readCalls: () => readCalls(url, slug, token) };
}

/** Signs the owner of the demo workspace in. @returns `{ url, key, token }` */
async function openDemo(url, dataDir) {
  const [password, key] = ["demo-password", "demo-key"].map((name) =>
    readFileSync(join(dataDir, name), "utf8").trim(),
  );
  const { access_token: token } = await ask(`${url}/auth/v1/token?grant_type=password`, {
    body: { email: "demo@outlay.local", password },
  });
  return { url, key, token };
}

async function signUp(url) {
  const account = { email: `${randomUUID()}@example.com`, password: `emitters ${randomUUID()}` };
  const { access_token: token } = await ask(`${url}/auth/v1/signup`, { body: account });
  const { workspaces } = await ask(`${url}/api/v1/me`, { token });
  return { token, slug: workspaces[0].slug };
}

async function makeKey(url, slug, token, settings) {
  const body = { name: "Emitters", permissions: ["log_usage"], ...settings };
  const { secret } = await ask(`${url}/api/v1/workspaces/${slug}/api-keys`, { token, body });
  return secret;
}

async function ask(url, { token, body }) {
  const response = await fetch(url, {
    method: body ? "POST" : "GET",
    headers: {
      ...(token && { authorization: `Bearer ${token}` }),
      ...(body && { "content-type": "application/json" }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${await response.text()}`);
  return response.json();
}

/** Kinds of tokens by unit. What is written to the cache is one count, whoever tells for how long. */
const kinds = {
  input_tokens: "input",
  cache_read_tokens: "cacheRead",
  cache_write_tokens: "cacheWrite",
  cache_write_5m_tokens: "cacheWrite",
  cache_write_1h_tokens: "cacheWrite",
  output_tokens: "output",
  output_reasoning_tokens: "output",
};

/** The calls that the ledger has and that stand, with their tokens by kind, the oldest first. */
async function readCalls(url, slug, token) {
  const response = await fetch(`${url}/api/v1/workspaces/${slug}/export?period=all`, {
    headers: { authorization: `Bearer ${token}` },
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`The export answered ${response.status}: ${text}`);
  const calls = new Map();
  for (const row of parse(text, { columns: true })) {
    // A call that was told again and better is voided and corrected.
    if (row.voids || row.voided_by) continue;
    const { provider, model, end_user: user, feature } = row;
    const call = calls.get(row.id) ?? { provider, model, user, feature, usd: 0n };
    call.usd += parseUsd(row.amount_usd);
    const kind = kinds[row.unit_type] ?? row.unit_type;
    call[kind] = (call[kind] ?? 0) + Number(row.quantity);
    calls.set(row.id, call);
  }
  return [...calls.values()];
}
