import { canSendMail } from "@/lib/alerts/mail/send-mail";
import { log, reportFailure } from "@/lib/log";
import { metrics } from "@/lib/metrics";
import { retryDelayMs } from "@/lib/outside/backoff";
import { attempt as attemptOnce, attemptTimeoutMs } from "./attempt";
import type { Delivery, DeliveryOutcome } from "./claimed";
import { claimDeliveries, finishDelivery } from "./delivery-queries";

/** Deliveries that one process sends at once: in all, for channels that fail, and for one channel or kind of mail. */
const most = { all: 64, failing: 32, perQueue: 4 };

/** How long a claim lasts: longer than an attempt, so that no other process claims a delivery that is being sent. */
export const leaseSeconds = 2 * (attemptTimeoutMs / 1000) + 10;

/** How long a drain claims further deliveries. With the last attempt it ends within a minute, before a scheduler calls again. */
const drainLimitMs = 40_000;

/**
 * Sends the deliveries that are due, independently of each other, so that a receiver that hangs delays no other. When one ends,
 * the next are claimed. If the process is killed while it sends, another process sends the delivery again with the same id when
 * the claim has expired.
 */
export class DeliveryPump {
  readonly #inFlight = new Map<Promise<void>, Delivery>();
  #looking: Promise<number> | undefined;
  #isWanted = false;
  #isClosed = false;
  #isPaused = false;

  /** @param attempt sends one delivery; another one in tests */
  constructor(private readonly attempt: (delivery: Delivery) => Promise<DeliveryOutcome> = attemptOnce) {}

  /** Claims the deliveries that are due and starts to send them. @returns how many it started */
  async look(): Promise<number> {
    if (this.#looking) {
      this.#isWanted = true;
      return this.#looking;
    }
    this.#looking = this.#claim();
    try {
      return await this.#looking;
    } finally {
      this.#looking = undefined;
      if (this.#isWanted) this.#lookAgain();
    }
  }

  /** Waits until nothing is being sent. For at most `limitMs`, it also sends deliveries that become due meanwhile. */
  async drain(limitMs = drainLimitMs): Promise<void> {
    const beganMs = performance.now();
    while (this.#inFlight.size > 0 || this.#looking) {
      if (performance.now() - beganMs > limitMs) this.#isPaused = true;
      // The caller of `look` logs a failed claim.
      const looking = this.#looking?.catch(() => 0);
      await Promise.race([...this.#inFlight.keys(), ...(looking ? [looking] : [])]);
    }
    this.#isPaused = false;
  }

  /** Claims no more deliveries, and waits for those being sent. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.drain();
  }

  async #claim(): Promise<number> {
    this.#isWanted = false;
    const failing = [...this.#inFlight.values()].filter(isFailing).length;
    const limits = {
      all: most.all - this.#inFlight.size,
      failing: Math.max(0, most.failing - failing),
      perQueue: most.perQueue,
    };
    if (this.#isClosed || this.#isPaused || limits.all <= 0) return 0;
    const claimed = await claimDeliveries(limits, leaseSeconds, canSendMail());
    for (const delivery of claimed) {
      const sent: Promise<void> = deliver(delivery, this.attempt)
        .then(() => {})
        .catch((error) =>
          reportFailure(error, "The outcome of a delivery was not recorded; it will be sent again."),
        )
        .finally(() => {
          this.#inFlight.delete(sent);
          this.#lookAgain();
        });
      this.#inFlight.set(sent, delivery);
    }
    return claimed.length;
  }

  /** Claims the next deliveries without waiting for the next run of the job. */
  #lookAgain(): void {
    this.look().catch((error) => reportFailure(error, "The queue of deliveries could not be read."));
  }
}

/**
 * Sends a delivery once and records the outcome.
 * @returns its state; null if another process has claimed it meanwhile
 */
export async function deliver(
  delivery: Delivery,
  attempt: (delivery: Delivery) => Promise<DeliveryOutcome> = attemptOnce,
): Promise<Awaited<ReturnType<typeof finishDelivery>>> {
  const { id, lease, attempts } = delivery;
  const ended = await attempt(delivery);
  const isDelivered = ended.outcome === "delivered";
  const state = await finishDelivery({
    id,
    lease,
    outcome: ended.outcome,
    status: ended.status,
    error: isDelivered ? null : ended.error,
    retry_in_ms: isDelivered ? 0 : Math.max(retryDelayMs(attempts), ended.retryAfterMs ?? 0),
  });
  const kind = "channel" in delivery ? delivery.channel.kind : delivery.kind;
  metrics.alertDeliveries.inc({ kind, outcome: state === "dead" ? "dead" : ended.outcome });
  if (state === "dead") log.warn({ delivery: id, kind }, "A delivery was given up.");
  return state;
}

function isFailing(delivery: Delivery): boolean {
  return "channel" in delivery && delivery.channel.is_failing;
}
