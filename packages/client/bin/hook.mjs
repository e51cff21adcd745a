// `outlay hook`: a hook of Claude Code that refuses prompts, and ends a turn before its next tool, once a limit is used up.
import { text } from "node:stream/consumers";
import { fileOf, readCache, refresh, refreshLater, url } from "./cache.mjs";

/** How old an answer may be before it is refreshed in the background, and before the hook waits for a new one. */
const freshMs = 15_000;
const staleMs = 60_000;
/** A refusal this old is asked again, because somebody may have approved more since. */
const refusalMs = 2_000;
/** The longest time that the hook waits for the service. */
const waitMs = 2_000;
/** How old an answer may be that is believed while the service is away. */
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
  // Shown to the person; Claude Code goes on.
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

/** What is known, as fresh as the event needs it. */
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

/** A prompt is blocked. A tool is denied and the turn ends: Claude Code would go on to call the model with the denial. */
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
