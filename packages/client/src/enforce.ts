import type { CallOptions, EnforceOptions } from "./call-options.js";
import { OutlayError } from "./errors.js";
import { type AskedCall, toMostUsage } from "./estimate.js";
import type { Outlay } from "./outlay.js";
import { isPassing } from "./transport.js";

const hourMs = 3_600_000;
/** The pause in which calls are made without asking, after a request without a decision. Otherwise every call would wait. */
const pauseMs = 5000;

/** The calls of the current hour that were made without a reservation, and the end of the pause in which none is requested. */
class OpenCalls {
  #count = 0;
  #since = Number.NEGATIVE_INFINITY;
  #warnedAt = Number.NEGATIVE_INFINITY;
  pausedUntil = Number.NEGATIVE_INFINITY;

  /** Counts a call. @returns false if this hour's maximum is reached */
  admit(most: number): boolean {
    if (Date.now() - this.#since >= hourMs) {
      this.#since = Date.now();
      this.#count = 0;
    }
    if (this.#count >= most) return false;
    this.#count += 1;
    return true;
  }

  notify(error: OutlayError, onOpenCall: EnforceOptions["onOpenCall"]): void {
    try {
      if (onOpenCall) onOpenCall(error);
      else if (Date.now() - this.#warnedAt > 60_000) {
        this.#warnedAt = Date.now();
        // biome-ignore lint/suspicious/noConsole: a limit must not stop holding in silence.
        console.warn(`Outlay: a call is made without a reservation. ${error.message}`);
      }
    } catch {
      // The caller's callback must not harm the call.
    }
  }
}

/** By client, because all wrappers of a client share the maximum. */
const openCalls = new WeakMap<Outlay, OpenCalls>();

function openCallsOf(outlay: Outlay): OpenCalls {
  const known = openCalls.get(outlay) ?? new OpenCalls();
  openCalls.set(outlay, known);
  return known;
}

/** A reservation: its id, the call that it is for, and the input tokens where the caller knows them. */
export type ReservedCall = { id: string; asked: AskedCall; inputTokens: number | undefined };

/** Whether the service gave no decision. A 429 is a decision: the caller has to slow down. */
const isUndecided = ({ status, code }: OutlayError) =>
  code === "unreachable" || status >= 500 || (isPassing(status) && status !== 429);

/**
 * Reserves the maximum cost of a call, if the options enforce limits.
 * @returns the reservation; undefined if the call is made without one
 * @throws BudgetExceededError if a limit leaves no room
 * @throws OutlayError if the service refuses to reserve for another reason, or gives no decision
 */
export async function reserveCall(
  outlay: Outlay,
  asked: AskedCall,
  options: CallOptions,
): Promise<ReservedCall | undefined> {
  if (!options.enforce) return undefined;
  const settings = options.enforce === true ? {} : options.enforce;
  const { whenUnreachable = "open", maxOpenCalls = 100, maxOutputTokens = 8192 } = settings;
  const estimate = settings.estimate?.(asked.request);
  const message = toMostUsage(asked, options, estimate, maxOutputTokens);
  if (!message) return undefined;
  const { project } = options;
  const { waitMs, expiresInSeconds } = settings;
  const open = openCallsOf(outlay);
  try {
    if (whenUnreachable === "open" && Date.now() < open.pausedUntil)
      throw new OutlayError("unreachable", "The service did not answer a moment ago.");
    const { id } = await outlay.reserve(message, { project, waitMs, expiresInSeconds });
    open.pausedUntil = Number.NEGATIVE_INFINITY;
    return { id, asked, inputTokens: estimate?.inputTokens };
  } catch (error) {
    if (whenUnreachable === "closed" || !(error instanceof OutlayError) || !isUndecided(error)) throw error;
    if (Date.now() >= open.pausedUntil) open.pausedUntil = Date.now() + pauseMs;
    if (!open.admit(maxOpenCalls)) {
      const description = `The service gave no decision, and ${maxOpenCalls} calls were made without one in this hour (\`maxOpenCalls\`).`;
      throw new OutlayError("unreachable", description, error.status, undefined, { cause: error });
    }
    open.notify(error, settings.onOpenCall);
    return undefined;
  }
}
