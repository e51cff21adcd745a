import { stringify } from "lossless-json";
import type { ImportedMessage } from "./message";

/** The service's response to one message. */
export type MessageVerdict = {
  status: number;
  replayed?: boolean;
  /** When the cost occurred, if that is in a closed month. */
  adjusts?: string;
  error?: string;
  error_description?: string;
  issues?: { path: string; message: string }[];
  differing_fields?: string[];
};

/** The service refused the whole call, or could not be reached after all retries. */
export class PostError extends Error {
  override name = "PostError";
}

export type PosterOptions = {
  /** The URL of a bulk route: the one for API keys, or the one of a workspace for its members. */
  endpoint: string;
  headers?: Record<string, string>;
  /** Called before a pause. @param reason why the call failed. @param ms how long the pause takes */
  onWait?: (reason: string, ms: number) => void;
  /** How long a call is retried; ten minutes by default. */
  retryLimitMs?: number;
};

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

const callTimeoutMs = 120_000;
const firstPauseMs = 250;
const longestPauseMs = 20_000;
const transient = new Set([429, 500, 502, 503, 504]);

/**
 * Posts messages to the bulk route, and retries when the service is overloaded, limits the rate or cannot be reached.
 * Every message has an idempotency key, so a retry never records it twice.
 */
export class Poster {
  constructor(private readonly options: PosterOptions) {}

  /** @returns one verdict per message, in order. @throws PostError */
  async post(messages: ImportedMessage[], dryRun: boolean): Promise<MessageVerdict[]> {
    const body = stringify({ messages }) ?? "";
    const giveUpAt = Date.now() + (this.options.retryLimitMs ?? 600_000);
    for (let attempt = 0; ; attempt += 1) {
      const tried = await this.#try(body, dryRun);
      if ("verdicts" in tried) return tried.verdicts;
      if (!tried.again || Date.now() > giveUpAt) throw new PostError(tried.reason);
      const backoff = Math.min(longestPauseMs, firstPauseMs * 2 ** attempt) * (0.75 + Math.random() / 2);
      const pauseMs = tried.afterMs ?? backoff;
      this.options.onWait?.(tried.reason, pauseMs);
      await wait(pauseMs);
    }
  }

  async #try(
    body: string,
    dryRun: boolean,
  ): Promise<{ verdicts: MessageVerdict[] } | { again: boolean; reason: string; afterMs?: number }> {
    const { endpoint, headers } = this.options;
    let response: Response;
    let text: string;
    try {
      response = await fetch(`${endpoint}${dryRun ? "?dry_run=true" : ""}`, {
        method: "POST",
        headers: { ...headers, "content-type": "application/json" },
        body,
        signal: AbortSignal.timeout(callTimeoutMs),
      });
      text = await response.text();
    } catch (error) {
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
      const reason = cause instanceof Error ? cause.message : String(cause);
      return { again: true, reason: `${endpoint} cannot be reached: ${reason}` };
    }
    if (response.status === 207) return { verdicts: JSON.parse(text).results };
    const afterSeconds = Number(response.headers.get("retry-after") ?? Number.NaN);
    return {
      again: transient.has(response.status),
      reason: `The service answered ${response.status}: ${describeRefusal(text)}`,
      ...(Number.isFinite(afterSeconds) && { afterMs: afterSeconds * 1000 }),
    };
  }
}

function describeRefusal(text: string): string {
  try {
    const { error, error_description } = JSON.parse(text);
    return `${error}: ${error_description}`;
  } catch {
    return text.slice(0, 200);
  }
}
