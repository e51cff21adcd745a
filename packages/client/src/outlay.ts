/// <reference lib="esnext.disposable" preserve="true" />
import type { CostRequest, IngestResult, Reservation, UsageMessage } from "./contract.generated.js";
import { OutlayError } from "./errors.js";
import { drainOnSignals } from "./exit.js";
import type { CostMessage, Counts, OutlayOptions, RecordOptions, ReserveOptions } from "./options.js";
import { Sender } from "./sender.js";
import { type Answer, backoffMs, connect, isPassing, type Post, toError } from "./transport.js";

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
    this.#sender = new Sender(
      options,
      this.#post,
      (error, request) => this.#report(error, request),
      (id) => void this.release(id),
    );
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
      const { mayExist = false, reservationId } = options;
      this.#sender.add({ text, isOwnTime, mayExist, reservationId }, reason);
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
      const { status, body: answer, retryAfterMs } = await this.#post("/messages", body);
      if (status === 201 && answer) return answer as IngestResult;
      if (!(isPassing(status) || status >= 500) || tries > retries) throw toError(status, answer);
      await new Promise((resolve) => setTimeout(resolve, Math.max(retryAfterMs, backoffMs(tries))));
    }
  }

  /**
   * Reserves the maximum cost of a call of a model against the key's monthly limit and blocking budgets. Make the call, then record it
   * with `reservationId` to settle the reservation, or `release` it if no call was made. It expires after `expiresInSeconds`.
   * @param message the maximum usage of the call: the input tokens and the most output tokens as `lines`, or `estimated_cost`
   * @throws BudgetExceededError if a limit leaves no room for it
   * @throws OutlayError another error of the API, or `unreachable` if no answer came within `waitMs`
   */
  async reserve(message: UsageMessage, options: ReserveOptions = {}): Promise<Reservation> {
    const { waitMs = 2000, expiresInSeconds = 600, ...place } = options;
    const until = Date.now() + waitMs;
    const body = this.#write(message, place, { expires_in_seconds: expiresInSeconds });
    for (let tries = 1; ; tries += 1) {
      const { status, body: answer, retryAfterMs } = await this.#postUntil(until, "/reservations", body);
      if (status === 201 && answer) return answer as Reservation;
      const pauseMs = Math.max(retryAfterMs, backoffMs(tries, 250));
      if (!(isPassing(status) || status >= 500) || Date.now() + pauseMs > until)
        throw toError(status, answer);
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }

  /** Releases a reservation for which no call was made. Never rejects: if the service does not answer, the reservation expires. */
  async release(reservationId: string): Promise<void> {
    for (let tries = 1; tries <= 3; tries += 1) {
      const path = `/reservations/${reservationId}`;
      const { status } = await this.#post(path, "", undefined, false, "DELETE");
      if (!(isPassing(status) || status >= 500)) return;
      await new Promise((resolve) => setTimeout(resolve, backoffMs(tries)));
    }
  }

  /** Requests a reservation and waits for the answer until a deadline. A reservation that is answered later is released. */
  #postUntil(until: number, path: string, body: string): Promise<Answer> {
    return new Promise((resolve) => {
      let isLate = false;
      const timer = setTimeout(() => {
        isLate = true;
        resolve({ status: 0, body: undefined, retryAfterMs: 0 });
      }, until - Date.now());
      void this.#post(path, body).then((answer) => {
        clearTimeout(timer);
        if (isLate && answer.status === 201) void this.release((answer.body as Reservation).id);
        resolve(answer);
      });
    });
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
  #write(message: CostMessage, options: RecordOptions, more: { expires_in_seconds?: number } = {}): string {
    const { project = this.#options.project, source = this.#options.source ?? "api" } = options;
    return JSON.stringify({
      project,
      source,
      idempotency_key: options.idempotencyKey ?? randomKey(),
      reservation_id: options.reservationId,
      ...more,
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
