import { hash, randomUUID } from "node:crypto";
import { broadcast, onBroadcast } from "@/lib/workers";

/** A call whose answer could not be delivered: its fingerprint and its idempotency key. */
type LostCall = { fingerprint: string; key: string };

const rememberedMs = 10 * 60_000;
const maxRemembered = 10_000;

type Lost = LostCall & { until: number };

/**
 * Recognises retries, so that a retry does not record a second time. Each call records under an idempotency key, and a retry
 * has to get the key of the call that it repeats. There are three ways:
 *
 * 1. The client sends a key of its own in the call's `_meta.idempotency_key`.
 * 2. A transport sends the same request id twice in the same session.
 * 3. The same caller sends an equal call after one whose answer could not be delivered, because its client disconnected or
 *    cancelled it. Protocol 2026-07-28 has clients send such a call again under a new id. This process and its
 *    other workers remember it for ten minutes.
 *
 * Two equal calls that were both answered are two uses: both are recorded.
 */
export class Retries {
  /** Calls whose answers were not delivered, oldest first. */
  #lost: Lost[] = [];

  /** @param atMost how many lost calls to remember; the oldest is forgotten first */
  constructor(private readonly atMost: number = maxRemembered) {
    onBroadcast("lost tool call", (call) => this.#remember(call as LostCall));
    onBroadcast("repeated tool call", (call) => this.#forget(call as LostCall));
  }

  /**
   * The idempotency key of a call. A retry gets the key of its first call.
   * @param call.fingerprint computes the fingerprint, only if it is needed: usually no call is lost
   * @param call.session an id that no other client has, if any
   * @returns `isRetry`: the call repeats one whose answer could not be delivered, which is no longer remembered
   */
  keyFor(call: { fingerprint: () => string; session: string | undefined; requestId: string | number }): {
    key: string;
    isRetry: boolean;
  } {
    const earlier = this.#lost.length === 0 ? undefined : this.#take(call.fingerprint());
    if (earlier !== undefined) return { key: earlier, isRetry: true };
    if (call.session === undefined) return { key: `mcp:${randomUUID()}`, isRetry: false };
    // With the fingerprint, because different calls under one request id are different calls.
    const parts = [call.session, typeof call.requestId, String(call.requestId), call.fingerprint()];
    return { key: `mcp:${digest(parts)}`, isRetry: false };
  }

  /** Remembers a call whose answer could not be delivered. */
  lose(fingerprint: string, key: string): void {
    this.#remember({ fingerprint, key });
    // Tells other workers, which may receive the retry.
    broadcast("lost tool call", { fingerprint, key });
  }

  #remember(call: LostCall): void {
    this.#lost.push({ ...call, until: Date.now() + rememberedMs });
    if (this.#lost.length > this.atMost) this.#lost.shift();
  }

  #take(fingerprint: string): string | undefined {
    const now = Date.now();
    const first = this.#lost.findIndex(({ until }) => until > now);
    if (first !== 0) this.#lost = first < 0 ? [] : this.#lost.slice(first);
    const index = this.#lost.findIndex((lost) => lost.fingerprint === fingerprint);
    const [found] = index < 0 ? [] : this.#lost.splice(index, 1);
    if (!found) return undefined;
    broadcast("repeated tool call", { fingerprint, key: found.key });
    return found.key;
  }

  #forget({ key }: LostCall): void {
    this.#lost = this.#lost.filter((lost) => lost.key !== key);
  }
}

/** A digest of the caller, the tool and the arguments. Equal calls have equal fingerprints. */
export function fingerprintOf(caller: string, tool: string, args: unknown): string {
  return digest([caller, tool, JSON.stringify(args)]);
}

function digest(parts: string[]): string {
  return hash("sha256", JSON.stringify(parts), "base64url");
}
