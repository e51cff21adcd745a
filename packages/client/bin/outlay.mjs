#!/usr/bin/env node
// `outlay status`: what is left of the limit that is nearest, for a terminal's status line. It prints what it knows from a cache
// and never waits for the service, except the first time; a process of its own refreshes the cache in the background.
// `outlay hook`: the same as a hook of Claude Code, which refuses once a limit is used up.
import { fileURLToPath } from "node:url";
import { apiKey, fileOf, readCache, refresh, refreshLater, refreshNow, url } from "./cache.mjs";
import { runHook } from "./hook.mjs";

/** How old what is printed may be before it is refreshed, and before its age is printed with it. */
const freshMs = 15_000;
const agedMs = 10 * 60_000;

const program = fileURLToPath(import.meta.url);

const usage = `Usage: outlay status
       outlay hook

status prints what is left of the limit that is nearest to its end: of the key, or of a budget that covers what it records.
hook reads an event of Claude Code from stdin (UserPromptSubmit, PreToolUse) and refuses where a limit is used up.

OUTLAY_KEY is an API key, and OUTLAY_URL the address of the service (default http://127.0.0.1:3000). OUTLAY_PROJECT,
OUTLAY_FEATURE, OUTLAY_PROVIDER, OUTLAY_MODEL and OUTLAY_USER say what the usage is of: budgets of others are left out.
OUTLAY_WHEN_UNREACHABLE=closed makes the hook refuse while the service cannot be reached.`;

const print = (line) => process.stdout.write(`${line}\n`);

/** The line, with its age where it is old. */
function lineOf({ at, line }) {
  const minutes = Math.floor((Date.now() - at) / 60_000);
  return Date.now() - at > agedMs ? `${line} (${minutes} min ago)` : line;
}

async function printStatus(file) {
  const known = readCache(file);
  if (known) {
    print(lineOf(known));
    if (Date.now() - known.at > freshMs) refreshLater(file, program);
    return;
  }
  const first = await refresh(file).catch(() => undefined);
  print(first ? first.line : `Outlay cannot be reached at ${url}`);
}

const [command] = process.argv.slice(2);
if (command !== "status" && command !== "hook" && command !== "refresh") {
  print(usage);
  if (command !== undefined && command !== "--help") process.exitCode = 1;
} else if (!apiKey) {
  (command === "hook" ? console.error : print)("Set OUTLAY_KEY to an API key.");
  process.exitCode = 1;
} else if (command === "status") {
  await printStatus(fileOf());
} else if (command === "hook") {
  await runHook(program);
} else {
  await refreshNow(fileOf());
}
