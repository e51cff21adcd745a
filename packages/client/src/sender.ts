import type { BulkResult, CostRequest } from "./contract.generated.js";
import { OutlayError } from "./errors.js";
import { forget, remember } from "./exit.js";
import type { Counts, OutlayOptions } from "./options.js";
import { type Entry, Queue } from "./queue.js";
import { backoffMs, isPassing, type Post, toError } from "./transport.js";

const maxBatchOfService = 1000;
/** Browsers let a hidden page send 64 KiB. Characters are compared with it, so it leaves room for some of two bytes. */
const maxHiddenBytes = 60_000;
/** An error of the service, unlike an outage, may be due to one message: the same request is tried so often. */
const maxTriesOnError = 3;
/** The reason of an abort after which the same messages are sent again at once. */
const hidden = Symbol("hidden");

/** Sends messages in the background, one request at a time, until each is answered. Never throws. */
export class Sender {
  readonly #options: OutlayOptions;
  readonly #post: Post;
  readonly #report: (error: OutlayError, request: CostRequest) => void;
  readonly #release: (reservationId: string) => void;
  readonly #queue: Queue;
  readonly #maxBatch: number;
  /** What became of the messages. */
  readonly counts: Counts;

  /** The number of the last message. */
  #last = 0;
  /** The most messages in the next request: less after one that was too large or that failed. */
  #limit: number;
  /** How many requests failed one after another. */
  #failures = 0;
  /** When the service wants the next request, as it said, in milliseconds since 1970. */
  #notBefore = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Aborts the request under way. Each request has its own. */
  #request: AbortController | undefined;
  #isSending = false;
  #isHidden = false;
  #flushes = new Set<{ upTo: number; end: (isDone: boolean) => void }>();

  constructor(
    options: OutlayOptions,
    post: Post,
    report: (error: OutlayError, request: CostRequest) => void,
    release: (reservationId: string) => void,
  ) {
    const { maxQueue = 10_000, maxQueueBytes = 16 << 20, maxBatch = maxBatchOfService } = options;
    this.#options = options;
    this.#post = post;
    this.#report = report;
    this.#release = release;
    const queue = new Queue(maxQueue, maxQueueBytes);
    this.#queue = queue;
    this.#maxBatch = Math.max(1, Math.min(maxBatch, maxBatchOfService));
    this.#limit = this.#maxBatch;
    this.counts = {
      recorded: 0,
      refused: 0,
      dropped: 0,
      get queued() {
        return queue.length;
      },
    };
  }

  /** Queues a message, or drops it: where the queue is full, or for a reason of the caller. */
  add(message: Omit<Entry, "number" | "bytes">, reason?: string): void {
    this.#last += 1;
    const bytes = new TextEncoder().encode(message.text).length;
    const entry: Entry = { ...message, number: this.#last, bytes };
    if (reason) this.#drop(entry, new OutlayError("not_sent", reason));
    else if (this.#queue.push(entry)) this.#wake();
    else this.#drop(entry, new OutlayError("queue_full", `${this.#queue.length} messages are waiting.`));
  }

  /** Sends what waits now. @returns whether all of it was answered within the time */
  flush(timeoutMs: number = this.#options.drainTimeoutMs ?? 10_000): Promise<boolean> {
    if (this.#queue.length === 0) return Promise.resolve(true);
    return new Promise((resolve) => {
      const flush = {
        upTo: this.#last,
        end: (isDone: boolean) => {
          clearTimeout(timer);
          this.#flushes.delete(flush);
          resolve(isDone);
        },
      };
      const timer = setTimeout(() => flush.end(false), timeoutMs);
      this.#flushes.add(flush);
      this.#wake(true);
    });
  }

  /** Flushes, and drops what was not answered within the time. */
  async drain(timeoutMs?: number): Promise<void> {
    if (await this.flush(timeoutMs)) return;
    const left = this.#queue.first(Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY);
    const request = this.#request;
    this.#request = undefined;
    request?.abort();
    this.#settle(left.length);
    for (const entry of left)
      this.#drop(entry, new OutlayError("not_sent", "The message was not sent in time."));
  }

  /** While the page is hidden, sends small requests that outlive it. One under way might not, so it is sent again. */
  hide(isHidden: boolean): void {
    const wasHidden = this.#isHidden;
    this.#isHidden = isHidden;
    if (!isHidden) return;
    if (!wasHidden) this.#request?.abort(hidden);
    this.#wake(true);
  }

  /** Sees to it that the queue is sent: soon, or at once where it is long enough or `isUrgent`. */
  #wake(isUrgent = false): void {
    remember(this);
    const isFull = this.#queue.length >= this.#maxBatch && this.#failures === 0;
    if (this.#isSending || (this.#timer !== undefined && !isUrgent && !isFull)) return;
    const waitMs = this.#notBefore - Date.now();
    if (waitMs > 0) this.#sleep(waitMs);
    else if (isUrgent || isFull) void this.#send();
    else this.#sleep(this.#options.flushIntervalMs ?? 1000);
  }

  /** Keeps Node running only where somebody waits for a flush. */
  #sleep(delayMs: number): void {
    clearTimeout(this.#timer);
    // A longer delay would overflow.
    this.#timer = setTimeout(() => void this.#send(), Math.min(delayMs, 2 ** 31 - 1));
    if (this.#flushes.size === 0) (this.#timer as { unref?: () => void }).unref?.();
  }

  /** Sends what waits now, one request after another. What is added meanwhile waits for the interval, unless it is urgent. */
  async #send(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#isSending = true;
    const upTo = this.#last;
    let pauseMs = 0;
    while (pauseMs === 0 && (this.#queue.hasUpTo(upTo) || this.#isPressing())) {
      pauseMs = await this.#sendBatch();
    }
    this.#isSending = false;
    if (this.#queue.length > 0) this.#sleep(pauseMs || (this.#options.flushIntervalMs ?? 1000));
    else forget(this);
  }

  #isPressing(): boolean {
    const { length } = this.#queue;
    return length >= this.#maxBatch || (length > 0 && (this.#flushes.size > 0 || this.#isHidden));
  }

  /** @returns how long to wait before the next request, in milliseconds */
  async #sendBatch(): Promise<number> {
    const maxBytes = this.#isHidden ? maxHiddenBytes : (this.#options.maxBatchBytes ?? 1 << 20);
    const batch = this.#queue.first(this.#limit, maxBytes);
    const body = `{"messages":[${batch.map(({ text }) => text).join()}]}`;
    const keepalive = this.#isHidden && body.length <= maxHiddenBytes;
    const request = new AbortController();
    this.#request = request;
    const {
      status,
      body: answer,
      retryAfterMs,
    } = await this.#post("/messages/batch", body, request, keepalive);
    // Otherwise the messages have been dropped meanwhile.
    if (this.#request !== request) return 0;
    this.#request = undefined;
    if (request.signal.reason === hidden) return 0;
    this.#notBefore = Date.now() + retryAfterMs;
    const { results } = (answer ?? {}) as Partial<BulkResult>;
    if (status === 207 && Array.isArray(results)) return this.#take(batch, results, retryAfterMs);
    if (isPassing(status)) return this.#pause(retryAfterMs);
    const isError = status < 400 || status >= 500;
    if (isError && this.#failures + 1 < maxTriesOnError) return this.#pause(retryAfterMs);
    if ((isError || status === 413) && batch.length > 1) {
      // Half as many from now on, to find the message at fault.
      this.#limit = Math.ceil(batch.length / 2);
      return 0;
    }
    this.#failures = 0;
    this.#settle(batch.length);
    for (const entry of batch) this.#refuse(entry, toError(status, answer));
    return 0;
  }

  /** Takes a bulk answer: a verdict for each message. @returns how long to wait, in milliseconds */
  #take(batch: Entry[], results: BulkResult["results"], retryAfterMs: number): number {
    const again: Entry[] = [];
    const refused: [Entry, OutlayError][] = [];
    let hasFailed = false;
    for (const [index, entry] of batch.entries()) {
      const result = results[index];
      const status = result?.status ?? 500;
      const error = toError(status, result);
      if (status === 201 || (entry.mayExist && error.code === "idempotency_conflict")) {
        this.counts.recorded += 1;
        if (!isSettled(result)) this.#letGo(entry);
      } else if (isPassing(status) || (status >= 500 && this.#failures + 1 < maxTriesOnError)) {
        hasFailed = true;
        again.push(entry);
      } else if (entry.isOwnTime && error.message.includes("occurred_at")) again.push(withoutTime(entry));
      else refused.push([entry, error]);
    }
    this.#limit = this.#maxBatch;
    this.#settle(batch.length, again);
    for (const [entry, error] of refused) this.#refuse(entry, error);
    if (hasFailed) return this.#pause(retryAfterMs);
    this.#failures = 0;
    return 0;
  }

  #pause(atLeastMs: number): number {
    this.#failures += 1;
    return Math.max(atLeastMs, backoffMs(this.#failures, this.#flushes.size > 0 ? 1000 : undefined));
  }

  #refuse(entry: Entry, error: OutlayError): void {
    this.counts.refused += 1;
    this.#letGo(entry);
    this.#report(error, JSON.parse(entry.text));
  }

  /** Releases the reservation of a message that did not settle it. */
  #letGo({ reservationId }: Entry): void {
    if (reservationId) this.#release(reservationId);
  }

  #drop(entry: Entry, error: OutlayError): void {
    this.counts.dropped += 1;
    this.#report(error, JSON.parse(entry.text));
  }

  /** Takes the first messages off the queue, except those to be sent again. */
  #settle(count: number, again: Entry[] = []): void {
    this.#queue.replace(count, again);
    for (const flush of this.#flushes) if (!this.#queue.hasUpTo(flush.upTo)) flush.end(true);
  }
}

/** Whether a message settled the reservation that it names. */
const isSettled = (result: BulkResult["results"][number] | undefined) =>
  result !== undefined && "reservation" in result && result.reservation?.state === "settled";

/** The same message without the client's time, which the service has refused: this machine's clock is wrong. */
function withoutTime(entry: Entry): Entry {
  const request: CostRequest = JSON.parse(entry.text);
  delete request.message.occurred_at;
  const text = JSON.stringify(request);
  return { ...entry, text, isOwnTime: false, bytes: entry.bytes - (entry.text.length - text.length) };
}
