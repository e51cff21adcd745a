import type { Permission } from "@/lib/contract/access/permissions";
import type { IngestResult } from "@/lib/contract/ledger/ingest-result";
import type { CostMessage, IngestRequest } from "@/lib/contract/ledger/message";
import { accepted, type Verdict } from "@/lib/errors";
import type { AccessToken, ApiKey, KeyLookup } from "@/lib/keys/api-key";
import type { Counted } from "@/lib/keys/decide";
import type { Telling } from "@/lib/ledger/telemetry/same-call";
import type { TreeSpan } from "@/lib/ledger/telemetry/span-tree";

/**
 * A message, and what makes it the same as others. `telling` is what an emitter's record has in the place of an idempotency
 * key: a call of a model is told by several records, of which the first is recorded, however the others differ.
 */
export type Submission = IngestRequest & { telling?: CallKeys | undefined; emitter?: Emitter | undefined };

/** The program that told of a call. `costUsd`: its own figure of what the whole call cost, decimal text. */
export type Emitter = { name: string; costUsd?: string | undefined };

/**
 * Idempotency keys of the key's workspace and environment. Where one of `own`, `outer` or `inner` is known, the message was
 * recorded before.
 * - `own`: the message's own keys.
 * - `outer`: those of messages that would include this one.
 * - `inner`: those that messages which this one would include are remembered by.
 * - `within`: what the message is inside of. Its marks are remembered with the message; they are `inner` of those that would
 *   include it.
 * - `tellings`: of a call, the spans that told it, by which it is compared with calls that share no key with it.
 * - `sumOf`: of a sum of calls, the marks of what these are within. It is recorded unless one is known, and taken back once
 *   one is.
 */
export type CallKeys = {
  own: string[];
  outer: string[];
  inner: string[];
  within: Around[];
  tellings?: Telling[];
  sumOf?: string[];
};

/** Whether a key of a call is an id of the provider's, which every telling of the call may have. Others are of one record. */
export function isProviderKey(key: string): boolean {
  return /^otel:(?:response|request):/.test(key);
}

/**
 * What a message is inside of, and what that is inside of. Messages inside the same share it: a list of all for each of them
 * would grow by the square of an export. `isRemembered`: a committed message has remembered its mark and those around it.
 */
export type Around = { mark: string; outer: Around | undefined; isRemembered?: boolean };

/** Whether a mark is an hour of calls, which sums of them are about (`lib/sources/mapping/signal-claims.ts`). */
export function isHourMark(mark: string): boolean {
  return mark.startsWith("otel:hour:");
}

/**
 * The marks around messages from the inside out, each once.
 * @param seen what was asked for before; those around them are left out, and the others added
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

/** One HTTP or tool call that wants to record: who calls, and what, or what is wrong with it. */
export type IngestCall = {
  lookup: KeyLookup;
  address: string | undefined;
  /** The addresses that an access token may be for, if access tokens are accepted. */
  audiences?: readonly string[] | undefined;
  /** The call was admitted, and counted against its key's rate, as part of the request that it came in. */
  isAdmitted?: boolean | undefined;
  dryRun: boolean;
  /**
   * The messages, each of them or what is wrong with it; or what is wrong with the body as a whole. Either is refused
   * only after the key itself was checked, and the call counts once against its rate.
   */
  body: Verdict<Verdict<Submission>[]>;
  /** Spans of the export that the call is, which tell no call of a model of their own. */
  spans?: readonly TreeSpan[] | undefined;
};

/** What became of a call, and of each of its messages in order. `caller`: the key, where the call was admitted. */
export type IngestVerdict = Counted<Verdict<Recorded>[]> & {
  caller?: { key: ApiKey; token: AccessToken | null };
};

/**
 * `replayed`: an earlier request with the same idempotency key was answered so. `again`: why what an emitter tells was recorded
 * before.
 */
export type Recorded = { result: IngestResult; replayed: boolean; again?: Again | undefined };

/**
 * The same record was sent before; another record told the same call, of the emitter `by` where that is known; or a sum's
 * calls are told one by one.
 */
export type Again = { as: "record" } | { as: "call"; by?: string | undefined } | { as: "calls" };

/** What became of the message of a call with one. @throws ServiceError where the call or the message is refused */
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
