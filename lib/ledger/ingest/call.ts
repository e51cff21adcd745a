import type { Permission } from "@/lib/contract/access/permissions";
import type { IngestResult } from "@/lib/contract/ledger/ingest-result";
import type { CostMessage, IngestRequest } from "@/lib/contract/ledger/message";
import { accepted, type Verdict } from "@/lib/errors";
import type { AccessToken, ApiKey, KeyLookup } from "@/lib/keys/api-key";
import type { Counted } from "@/lib/keys/decide";
import type { CallReport } from "@/lib/ledger/telemetry/same-call";
import type { TreeSpan } from "@/lib/ledger/telemetry/span-tree";

/**
 * A message to record. `callKeys`: the keys of an emitter's record, instead of an idempotency key. Several records can report one call of
 * a model; the first is recorded, even if the others differ from it.
 */
export type Submission = IngestRequest & { callKeys?: CallKeys | undefined; emitter?: Emitter | undefined };

/** The program that reported a call. `costUsd`: what the call cost by the program's own account, decimal text. */
export type Emitter = { name: string; costUsd?: string | undefined };

/**
 * Idempotency keys in the workspace and environment of the API key. If one of `own`, `outer` or `inner` is stored, the call was recorded
 * before.
 * - `own`: the keys of this message.
 * - `outer`: the keys of messages that would include this one, such as a span around it.
 * - `inner`: the marks that are stored with messages which this one would include, such as spans inside it.
 * - `within`: what the message is inside of. Its marks are stored with the message; messages around it have them as `inner`.
 * - `reports`: the spans that reported a call. They are compared with those of calls that have none of the same keys.
 * - `sumOf`: for a sum of calls, the marks that these calls are within. The sum is refused as a repetition if one is stored, and voided
 *   when one is stored later.
 */
export type CallKeys = {
  own: string[];
  outer: string[];
  inner: string[];
  within: Around[];
  reports?: CallReport[];
  sumOf?: string[];
};

/** Whether a key is an id of the provider, which every record of the call can have. Other keys belong to one record. */
export function isProviderKey(key: string): boolean {
  return /^otel:(?:response|request):/.test(key);
}

/**
 * What a message is inside of, as a linked list from the inside out. Messages inside the same span share it, because separate lists
 * would grow with the square of an export. `isRemembered`: its mark and those around it are stored already.
 */
export type Around = { mark: string; outer: Around | undefined; isRemembered?: boolean };

/** Whether a mark stands for an hour of calls, which sums of calls refer to (`lib/sources/mapping/signal-claims.ts`). */
export function isHourMark(mark: string): boolean {
  return mark.startsWith("otel:hour:");
}

/**
 * The marks around messages, from the inside out, each once.
 * @param seen elements to leave out together with those around them; the returned ones are added to it
 */
export function marksAround(within: readonly Around[], seen: Set<Around>): string[] {
  const marks: string[] = [];
  for (const start of within) {
    for (let at: Around | undefined = start; at && !at.isRemembered && !seen.has(at); at = at.outer) {
      seen.add(at);
      marks.push(at.mark);
    }
  }
  return marks;
}

/** One HTTP or tool call that records messages. */
export type IngestCall = {
  lookup: KeyLookup;
  address: string | undefined;
  /** The audiences (RFC 8707) that an access token may have; undefined if access tokens are not accepted. */
  audiences?: readonly string[] | undefined;
  /** The request that carried the call was admitted and counted against its key's rate already. */
  isAdmitted?: boolean | undefined;
  dryRun: boolean;
  /**
   * The messages or their refusals, or the refusal of the whole body. Refusals are returned only after the key was checked, and the call
   * counts once against its rate.
   */
  body: Verdict<Verdict<Submission>[]>;
  /** If the call is an export: its spans that report no call of a model themselves. */
  spans?: readonly TreeSpan[] | undefined;
};

/** The outcome of a call and of each of its messages, in order. `caller`: the key, if the call was admitted. */
export type IngestVerdict = Counted<Verdict<Recorded>[]> & {
  caller?: { key: ApiKey; token: AccessToken | null };
};

/**
 * `replayed`: the result is that of an earlier request with the same idempotency key. `again`: how an emitter's record was recognised
 * as reported before.
 */
export type Recorded = { result: IngestResult; replayed: boolean; duplicate?: Duplicate | undefined };

/**
 * `record`: the same record was sent before. `call`: another record, of the emitter `by` if that is known, reported the same call.
 * `calls`: the calls of a sum are reported one by one.
 */
export type Duplicate = { as: "record" } | { as: "call"; by?: string | undefined } | { as: "calls" };

/** The result of a call with one message. @throws ServiceError if the call or the message was refused */
export function acceptedOne(outcome: IngestVerdict["outcome"]): Recorded {
  const [verdict] = accepted(outcome);
  if (!verdict) throw new Error("The message has no verdict.");
  return accepted(verdict);
}

/** The permission each type of message needs. */
export const permissionOf = {
  usage: "log_usage",
  batch: "log_usage",
  allocation: "log_usage",
  expense: "add_expenses",
  subscription: "manage_subscriptions",
} satisfies Record<CostMessage["type"], Permission>;
