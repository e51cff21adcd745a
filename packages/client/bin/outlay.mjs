#!/usr/bin/env node
// `outlay status`: what is left of the limit that is nearest, for a terminal's status line. It prints what it knows from a cache
// and never waits for the service, except the first time; a process of its own refreshes the cache in the background.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** How old what is printed may be before it is refreshed, and before its age is printed with it. */
const freshMs = 15_000;
const agedMs = 10 * 60_000;
/** The longest time for a refresh. A lock that is older was left by a process that was killed. */
const timeoutMs = 5_000;

const usage = `Usage: outlay status

Prints what is left of the limit that is nearest to its end: of the key, or of a budget that covers what it records.
It needs OUTLAY_KEY, an API key, and OUTLAY_URL, the address of the service (default http://127.0.0.1:3000).`;

const periods = {
  day: " today",
  week: " this week",
  month: " this month",
  quarter: " this quarter",
  year: " this year",
};

/**
 * The limits in an answer of `GET /api/v1/limits` whose figures the key may read. Amounts become text before the JSON is
 * parsed, because a JavaScript number would lose digits.
 */
function readLimits(text) {
  const exact = text.replace(/("(?:limit|spent|remaining)_usd":)(-?\d[\d.eE+-]*)/g, '$1"$2"');
  const { key, budgets } = JSON.parse(exact);
  const own = key.monthly_limit && { ...key.monthly_limit, name: "this key", period: "month", blocks: true };
  return [...(own ? [own] : []), ...budgets.filter(({ limit_usd: limit }) => limit !== null)];
}

/** The share that is left; only compared. */
const shareLeft = ({ remaining_usd: left, limit_usd: limit }) => Number(left) / Number(limit);

/** "$3.20 of $20 left today". */
function describe(limits) {
  const [nearest] = limits.sort((a, b) => shareLeft(a) - shareLeft(b));
  if (!nearest) return "no limit";
  const { limit_usd: limit, remaining_usd: left, period } = nearest;
  return `${dollars(left)} of ${dollars(limit)} left${periods[period] ?? ""}`;
}

/** Dollars without cents where there are none, never more than there are: cut, not rounded. */
function dollars(usd) {
  const format = new Intl.NumberFormat("en-US", {
    ...{ style: "currency", currency: "USD" },
    ...{ trailingZeroDisplay: "stripIfInteger", roundingMode: "trunc" },
  });
  return format.format(usd);
}

const print = (line) => process.stdout.write(`${line}\n`);

const { OUTLAY_KEY: apiKey, OUTLAY_URL: url = "http://127.0.0.1:3000", XDG_CACHE_HOME: caches } = process.env;

function fileOf() {
  const folder = join(caches || join(homedir(), ".cache"), "outlay");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const name = createHash("sha256").update(`${url}\n${apiKey}`).digest("hex").slice(0, 32);
  return join(folder, `${name}.json`);
}

function readCache(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return undefined;
  }
}

/** Asks the service and writes the cache, whole: a reader sees the old one or the new one. @returns what it wrote */
async function refresh(file) {
  const address = `${url.replace(/\/+$/, "")}/api/v1/limits`;
  const headers = { Authorization: `Bearer ${apiKey}` };
  const answer = await fetch(address, { headers, signal: AbortSignal.timeout(timeoutMs) });
  const text = await answer.text();
  const line = answer.ok ? describe(readLimits(text)) : `Outlay refuses the key (${answer.status})`;
  const cache = { at: Date.now(), line };
  const part = `${file}.${process.pid}`;
  writeFileSync(part, JSON.stringify(cache), { mode: 0o600 });
  renameSync(part, file);
  return cache;
}

/** Refreshes the cache in a process of its own, unless one does so already. */
function refreshLater(file) {
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
  const program = fileURLToPath(import.meta.url);
  spawn(process.execPath, [program, "refresh"], {
    detached: true,
    stdio: "ignore",
    windowsHide: true,
  }).unref();
}

/** The line, with its age where it is old. */
function lineOf({ at, line }) {
  const minutes = Math.floor((Date.now() - at) / 60_000);
  return Date.now() - at > agedMs ? `${line} (${minutes} min ago)` : line;
}

async function printStatus(file) {
  const known = readCache(file);
  if (known) {
    print(lineOf(known));
    if (Date.now() - known.at > freshMs) refreshLater(file);
    return;
  }
  const first = await refresh(file).catch(() => undefined);
  print(first ? first.line : `Outlay cannot be reached at ${url}`);
}

const [command] = process.argv.slice(2);
if (command !== "status" && command !== "refresh") {
  print(usage);
  if (command !== undefined && command !== "--help") process.exitCode = 1;
} else if (!apiKey) {
  print("Set OUTLAY_KEY to an API key.");
  process.exitCode = 1;
} else if (command === "status") {
  await printStatus(fileOf());
} else {
  const file = fileOf();
  // What is known stays where the service cannot be reached.
  await refresh(file).catch(() => undefined);
  rmSync(`${file}.lock`, { force: true });
}
