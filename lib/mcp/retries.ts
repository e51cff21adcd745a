import { createHash, randomUUID } from "node:crypto";

const rememberedMs = 10 * 60_000;
const maxRemembered = 10_000;

type Lost = { fingerprint: string; key: string; until: number };

/**
 * Recognises a retry, so that what it records is recorded once. Each call records under an idempotency key; a retry has
 * to come to the key of the call it repeats. Three ways lead there:
 *
 * 1. The client names one itself, in the call's `_meta.idempotency_key`.
 * 2. The same request id in the same session: sent twice by a transport.
 * 3. The same call from the same caller after one whose answer could not be delivered, because its client hung up or
 *    cancelled it. Protocol 2026-07-28 has clients send such a call again under a new id. This process remembers it for
 *    ten minutes.
 *
 * Two equal calls that were both answered are two uses, and are recorded twice.
 */
export class Retries {
  /** In the order in which they were lost. */
  #lost: Lost[] = [];

  /** @param atMost how many lost calls are remembered, the latest of them */
  constructor(private readonly atMost: number = maxRemembered) {}

  /** The idempotency key of a call. @param session an id that no other client has, where the call came with one */
  keyFor(call: { fingerprint: string; session: string | undefined; requestId: string | number }): string {
    const earlier = this.#take(call.fingerprint);
    if (earlier !== undefined) return earlier;
    if (call.session === undefined) return `mcp:${randomUUID()}`;
    // The fingerprint too: a client that uses an id for two different calls means two calls.
    return `mcp:${digest([call.session, typeof call.requestId, String(call.requestId), call.fingerprint])}`;
  }

  /** Remembers a call whose answer nobody was there to hear. */
  lose(fingerprint: string, key: string): void {
    this.#lost.push({ fingerprint, key, until: Date.now() + rememberedMs });
    if (this.#lost.length > this.atMost) this.#lost.shift();
  }

  #take(fingerprint: string): string | undefined {
    const now = Date.now();
    const first = this.#lost.findIndex(({ until }) => until > now);
    if (first !== 0) this.#lost = first < 0 ? [] : this.#lost.slice(first);
    const index = this.#lost.findIndex((lost) => lost.fingerprint === fingerprint);
    return index < 0 ? undefined : this.#lost.splice(index, 1)[0]?.key;
  }
}

/** What makes two calls equal: who calls, which tool, and with what. */
export function fingerprintOf(caller: string, tool: string, args: unknown): string {
  return digest([caller, tool, JSON.stringify(args)]);
}

function digest(parts: string[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("base64url");
}
