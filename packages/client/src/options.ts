import type { CostRequest, Source } from "./contract.generated.js";
import type { OutlayError } from "./errors.js";

/** A cost: usage of a model, a batch, an expense, a subscription or an allocation. */
export type CostMessage = CostRequest["message"];

/** What the client needs of `fetch`. The platform's own fits. */
export type Fetch = (
  url: string,
  init: {
    method: string;
    headers: Record<string, string>;
    body: string;
    signal: AbortSignal;
    keepalive?: boolean;
  },
) => Promise<{ status: number; headers: { get(name: string): string | null }; text(): Promise<string> }>;

/** Settings of a client. Only `url` has no default. */
export type OutlayOptions = {
  /** The address of the service, for example `https://costs.example.com`. In a page it may be a path of the same origin. */
  url: string;
  /** An API key. Leave it out in a page: send to a path of your own server, which adds the key. */
  apiKey?: string | undefined;
  /** The project of messages that name none. */
  project?: string | undefined;
  /** The source of messages that name none. Default `api`. */
  source?: Source | undefined;
  /**
   * Called for each message that is not recorded, with the reason and the request. Without it, one line a minute is
   * written to the console. What it throws is ignored.
   */
  onError?: ((error: OutlayError, request: CostRequest) => void) | undefined;
  /** The longest time that a message waits for others, in milliseconds. Default 1,000. */
  flushIntervalMs?: number | undefined;
  /** The most messages in one request: default and maximum 1,000. So many are sent at once. */
  maxBatch?: number | undefined;
  /** The most bytes in one request. Default 1 MiB; the service takes 8 MiB. */
  maxBatchBytes?: number | undefined;
  /** The most messages that wait. Further ones are dropped and counted. Default 10,000. */
  maxQueue?: number | undefined;
  /** The most bytes that wait. Default 16 MiB. */
  maxQueueBytes?: number | undefined;
  /** The longest time for one request, in milliseconds. Default 30,000. */
  timeoutMs?: number | undefined;
  /** The longest time that `flush`, `close` and the end of the process wait, in milliseconds. Default 10,000. */
  drainTimeoutMs?: number | undefined;
  /** Signals on which to send what waits, for example `["SIGTERM", "SIGINT"]`. Default none. */
  exitSignals?: readonly string[] | undefined;
  /** Replaces the platform's `fetch`. */
  fetch?: Fetch | undefined;
};

/** Settings of one message. */
export type RecordOptions = {
  /** The project. Needed where the client has none. */
  project?: string | undefined;
  /** The source. Default: the client's. */
  source?: Source | undefined;
  /** Your own key for this message: the same key never records twice. Default: a random one. */
  idempotencyKey?: string | undefined;
  /**
   * `true`: it is no error if another program has recorded other contents under the same `idempotencyKey`. For keys that
   * come from elsewhere, for example the id of a provider's response.
   */
  mayExist?: boolean | undefined;
  /** The id of the reservation that the message settles. If the message does not settle it, it is released. */
  reservationId?: string | undefined;
};

/** Settings of one reservation. */
export type ReserveOptions = {
  /** The project. Needed where the client has none. */
  project?: string | undefined;
  /** The source. Default: the client's. */
  source?: Source | undefined;
  /** The longest time to wait for the service's decision, in milliseconds. Default 2,000. */
  waitMs?: number | undefined;
  /** After how many seconds the reservation ends by itself: 10 to 3,600. Default 600. */
  expiresInSeconds?: number | undefined;
};

/** What a client did so far. `queued`, `recorded`, `refused` and `dropped` add up to the calls of `record`. */
export type Counts = { queued: number; recorded: number; refused: number; dropped: number };
