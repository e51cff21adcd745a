import pino from "pino";
import { env, workerNumber } from "@/lib/env";

const worker = workerNumber();

/**
 * The service's log: one line of JSON for each event on standard output, with the number of the worker if there are several. Credentials
 * are redacted as a precaution; code must not pass them.
 */
export const log = pino({
  level: env().LOG_LEVEL,
  base: worker === undefined ? null : { worker },
  timestamp: pino.stdTimeFunctions.isoTime,
  redact: {
    paths: [
      "authorization",
      "cookie",
      "secret",
      "password",
      "token",
      "*.authorization",
      "*.cookie",
      "*.secret",
      "*.password",
      "*.token",
    ],
    censor: "[redacted]",
  },
});

/** How often the count of a repeated failure is logged, and after which pause a failure is logged in full again. */
const countEveryMs = 1_000;
const forgetAfterMs = 10_000;
/** The most request ids in one line. */
const maxNamed = 20;

/** Failures of one kind since their last line. */
type Repeated = { message: string; count: number; requestIds: string[]; lastMs: number };

const repeated = new Map<string, Repeated>();
let counting: NodeJS.Timeout | undefined;

/**
 * Logs an error that the caller did not cause. The first error of a kind is logged in full with its cause and stack. Later ones of the
 * same kind are counted in one line a second, so that an outage under load does not fill the disk.
 * @param message what failed
 * @param context details such as `request_id`
 */
export function reportFailure(error: unknown, message: string, context: { request_id?: string } = {}): void {
  const kind = kindOf(error, message);
  const known = repeated.get(kind);
  if (known) {
    known.count += 1;
    known.lastMs = performance.now();
    if (context.request_id && known.requestIds.length < maxNamed) known.requestIds.push(context.request_id);
    return;
  }
  const cause = error instanceof Error ? error.cause : undefined;
  log.error({ err: error, ...(cause !== undefined && { cause }), ...context }, message);
  repeated.set(kind, { message, count: 0, requestIds: [], lastMs: performance.now() });
  counting ??= setInterval(logCounts, countEveryMs).unref();
}

function logCounts(): void {
  for (const [kind, { message, count, requestIds, lastMs }] of repeated) {
    if (count > 0) {
      log.error({ kind, count, request_ids: requestIds }, `${message} (more of the same kind)`);
      repeated.set(kind, { message, count: 0, requestIds: [], lastMs });
    } else if (performance.now() - lastMs > forgetAfterMs) repeated.delete(kind);
  }
  if (repeated.size > 0) return;
  clearInterval(counting);
  counting = undefined;
}

/** The identity of a failure: the codes of the error and its cause, and where each was created. */
function kindOf(error: unknown, message: string): string {
  if (!(error instanceof Error)) return `${message} ${String(error)}`;
  const codeOf = (each: Error) => ("code" in each ? String(each.code) : "");
  // The message may differ from call to call; the code and the place in the source do not.
  const own = codeOf(error) || `${error.name} ${error.stack?.split("\n    at ")[1] ?? error.message}`;
  const { cause } = error;
  return [message, own, cause instanceof Error && (codeOf(cause) || cause.message)].filter(Boolean).join(" ");
}
