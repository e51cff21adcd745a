/// <reference lib="esnext.disposable" preserve="true" />
import type { CostRequest, IngestResult } from "./contract.generated.js";
import { OutlayError } from "./errors.js";
import { drainOnSignals } from "./exit.js";
import type { CostMessage, Counts, OutlayOptions, RecordOptions } from "./options.js";
import { Sender } from "./sender.js";
import { backoffMs, connect, isPassing, type Post, toError } from "./transport.js";

/**
 * Records costs with an Outlay service. `record` returns at once; messages are sent in the background, in batches, each
 * with an idempotency key, and sent again until the service answers.
 *
 * ```ts
 * const outlay = new Outlay({ url: "https://costs.example.com", apiKey, project: "checkout" });
 * outlay.record({ type: "usage", provider: "openai", model: "gpt-4o", unit_type: "input_tokens", quantity: 1200 });
 * await outlay.close();
 * ```
 */
export class Outlay {
  readonly #options: OutlayOptions;
  readonly #post: Post;
  readonly #sender: Sender;
  readonly #stopSignals: () => void;
  #isClosed = false;
  #warnedAt = Number.NEGATIVE_INFINITY;

  /** Starts nothing: no timer, no request. @throws TypeError without `url` */
  constructor(options: OutlayOptions) {
    if (typeof options?.url !== "string") throw new TypeError("Outlay needs `url`, the service's address.");
    this.#options = options;
    this.#post = connect(options);
    this.#sender = new Sender(options, this.#post, (error, request) => this.#report(error, request));
    this.#stopSignals = drainOnSignals(options.exitSignals ?? [], () => this.#sender.drain());
  }

  /** What became of the messages of `record`. */
  get counts(): Counts {
    return { ...this.#sender.counts };
  }

  /**
   * Queues a message and returns. Never throws: what goes wrong, now or later, is given to `onError`. The message is
   * copied, and gets the present time as `occurred_at` if it has none.
   */
  record(message: CostMessage, options: RecordOptions = {}): void {
    try {
      const occurred_at = message.occurred_at ?? new Date().toISOString();
      const text = this.#write({ ...message, occurred_at }, options);
      const isOwnTime = message.occurred_at === undefined;
      const reason = this.#isClosed ? "The client is closed." : undefined;
      this.#sender.add({ text, isOwnTime, mayExist: options.mayExist === true }, reason);
    } catch (cause) {
      this.#sender.counts.dropped += 1;
      this.#report(unwritable(cause), { ...options, message } as unknown as CostRequest);
    }
  }

  /**
   * Records a message at once and answers the API's result. Tries again where `record` would, up to `retries` times
   * (default 3).
   * @throws OutlayError the API's error, or why no answer came
   */
  async recordNow(
    message: CostMessage,
    { retries = 3, ...options }: RecordOptions & { retries?: number | undefined } = {},
  ): Promise<IngestResult> {
    let body: string;
    try {
      body = this.#write(message, options);
    } catch (cause) {
      throw unwritable(cause);
    }
    for (let tries = 1; ; tries += 1) {
      const { status, body: answer, retryAfterMs } = await this.#post("", body);
      if (status === 201 && answer) return answer as IngestResult;
      if (!(isPassing(status) || status >= 500) || tries > retries) throw toError(status, answer);
      await new Promise((resolve) => setTimeout(resolve, Math.max(retryAfterMs, backoffMs(tries))));
    }
  }

  /**
   * Sends what waits now. Never rejects.
   * @param timeoutMs the longest time to wait; default `drainTimeoutMs`
   * @returns whether every message recorded before the call was answered. Those that were not stay in the queue.
   */
  flush(timeoutMs?: number): Promise<boolean> {
    return this.#sender.flush(timeoutMs);
  }

  /**
   * Sends what waits and ends the client. Never rejects. What is not answered in time is dropped, counted and given to
   * `onError`, as is what is recorded afterwards.
   * @param timeoutMs the longest time to wait; default `drainTimeoutMs`
   */
  async close(timeoutMs?: number): Promise<void> {
    this.#isClosed = true;
    this.#stopSignals();
    await this.#sender.drain(timeoutMs);
  }

  /** `await using outlay = new Outlay(…)` closes it at the end of the block. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** @throws TypeError where the message cannot be written as JSON */
  #write(message: CostMessage, options: RecordOptions): string {
    const { project = this.#options.project, source = this.#options.source ?? "api" } = options;
    return JSON.stringify({
      project,
      source,
      idempotency_key: options.idempotencyKey ?? randomKey(),
      message,
    });
  }

  #report(error: OutlayError, request: CostRequest): void {
    const { onError } = this.#options;
    try {
      if (onError) onError(error, request);
      else if (Date.now() - this.#warnedAt > 60_000) {
        this.#warnedAt = Date.now();
        // biome-ignore lint/suspicious/noConsole: a cost must not be lost in silence.
        console.warn(`Outlay did not record a cost. ${error.message}`);
      }
    } catch {
      // The caller's callback must not harm the caller.
    }
  }
}

const unwritable = (cause: unknown) =>
  new OutlayError("invalid_message", String(cause), 0, undefined, { cause });

/** A random idempotency key. `crypto.randomUUID` is missing in pages without TLS. */
function randomKey(): string {
  const words = crypto.getRandomValues(new Uint32Array(4));
  return [...words].map((word) => word.toString(16).padStart(8, "0")).join("");
}
