// `outlay hook`: a hook of Claude Code that refuses prompts, and ends a turn before its next tool, once a limit is used up.
import { text } from "node:stream/consumers";
import { fileOf, readCache, refresh, refreshLater, url } from "./cache.mjs";

/** The age from which a cached answer is refreshed in the background, and the age from which the hook waits for a new one. */
const freshMs = 15_000;
const staleMs = 60_000;
/** The age from which a cached refusal is checked again, because somebody may have approved more since. */
const refusalMs = 2_000;
/** The maximum time that the hook waits for the service. */
const waitMs = 2_000;
/** The maximum age of a cached answer that is used while the service cannot be reached. */
const believedMs = 10 * 60_000;

/**
 * Reads the event from stdin and writes the decision to stdout, as Claude Code's reference of hooks describes them. Without a
 * decision, Claude Code goes on.
 */
export async function runHook(program) {
  const { hook_event_name: event } = parse(await text(process.stdin));
  if (event !== "UserPromptSubmit" && event !== "PreToolUse") return;
  const { refusal, isKeyRefused, line } = await decide(program);
  if (refusal) process.stdout.write(JSON.stringify(toDecision(event, refusal)));
  // Claude Code shows this to the user and continues.
  else if (isKeyRefused) fail(`${line}: set OUTLAY_KEY to an API key of ${url}.`);
}

function parse(json) {
  try {
    return JSON.parse(json);
  } catch {
    return {};
  }
}

function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exitCode = 1;
}

/** The cached answer, refreshed first if it is too old for the event. */
async function decide(program) {
  const file = fileOf();
  const known = readCache(file);
  const age = known?.refusal === undefined ? Number.POSITIVE_INFINITY : Date.now() - known.at;
  if (age <= (known?.refusal ? refusalMs : staleMs)) {
    if (age > freshMs) refreshLater(file, program);
    return known;
  }
  try {
    return await refresh(file, waitMs);
  } catch {
    if (age <= believedMs) return known;
    const isClosed = process.env.OUTLAY_WHEN_UNREACHABLE === "closed";
    return { refusal: isClosed ? `Outlay cannot be reached at ${url}, so no limit can be checked.` : null };
  }
}

/** Blocks a prompt, or denies a tool and ends the turn; otherwise Claude Code would send the denial to the model. */
function toDecision(event, reason) {
  if (event === "UserPromptSubmit") return { decision: "block", reason };
  return {
    continue: false,
    stopReason: reason,
    hookSpecificOutput: {
      hookEventName: event,
      permissionDecision: "deny",
      permissionDecisionReason: reason,
    },
  };
}
