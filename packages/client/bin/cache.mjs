// Caches a key's limits in a file, so that programs do not have to wait for the service.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { describeNearest, readLimits, refusalOf } from "./limits.mjs";

/** The maximum duration of a refresh in the background. An older lock was left by a killed process. */
const timeoutMs = 5_000;

const environment = process.env;
export const apiKey = environment.OUTLAY_KEY;
export const url = (environment.OUTLAY_URL || "http://127.0.0.1:3000").replace(/\/+$/, "");

/** The scope of the usage from the environment. Budgets of other scopes are left out. */
const usage = Object.fromEntries(
  ["project", "feature", "provider", "model", "user"].flatMap((name) => {
    const value = environment[`OUTLAY_${name.toUpperCase()}`];
    return value ? [[name, value]] : [];
  }),
);

export function fileOf() {
  const folder = join(environment.XDG_CACHE_HOME || join(homedir(), ".cache"), "outlay");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const subject = [url, apiKey, ...(Object.keys(usage).length > 0 ? [JSON.stringify(usage)] : [])];
  const name = createHash("sha256").update(subject.join("\n")).digest("hex").slice(0, 32);
  return join(folder, `${name}.json`);
}

/** A cached answer. `at`: when it was received; `line`: text for a terminal; `refusal`: why nothing more may be spent, or null. */
export function readCache(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return undefined;
  }
}

/**
 * Asks the service and replaces the cache atomically.
 * @returns the new content
 * @throws if the service does not answer in time
 */
export async function refresh(file, withinMs = timeoutMs) {
  const query = new URLSearchParams(usage);
  const address = `${url}/api/v1/limits${query.size > 0 ? `?${query}` : ""}`;
  const headers = { Authorization: `Bearer ${apiKey}` };
  const answer = await fetch(address, { headers, signal: AbortSignal.timeout(withinMs) });
  const text = await answer.text();
  if (answer.status >= 500 || answer.status === 429) throw new Error(`The service answers ${answer.status}.`);
  const cache = { at: Date.now(), ...(answer.ok ? say(text) : refuse(answer.status)) };
  const part = `${file}.${process.pid}`;
  writeFileSync(part, JSON.stringify(cache), { mode: 0o600 });
  renameSync(part, file);
  return cache;
}

function say(text) {
  const limits = readLimits(text);
  return { line: describeNearest(limits), refusal: refusalOf(limits, Object.keys(usage), url) };
}

const refuse = (status) => ({
  line: `Outlay refuses the key (${status})`,
  refusal: null,
  isKeyRefused: true,
});

/** Refreshes the cache in another process, unless one is running. @param program the path of `outlay.mjs` */
export function refreshLater(file, program) {
  const lock = `${file}.lock`;
  try {
    if (Date.now() - statSync(lock).mtimeMs > 2 * timeoutMs) rmSync(lock, { force: true });
  } catch {
    // There is none.
  }
  try {
    writeFileSync(lock, "", { flag: "wx", mode: 0o600 });
  } catch {
    return;
  }
  spawn(process.execPath, [program, "refresh"], {
    detached: true,
    stdio: "ignore",
    windowsHide: true,
  }).unref();
}

/** The refresh that `refreshLater` starts. Removes its lock at the end. */
export async function refreshNow(file) {
  // If the service cannot be reached, the cache stays as it is.
  await refresh(file).catch(() => undefined);
  rmSync(`${file}.lock`, { force: true });
}
