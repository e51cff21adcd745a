import type { IngestRequest, IngestResult, MessageType } from "@/lib/contract/message";
import type { Permission } from "@/lib/contract/permissions";
import { accepted, type Verdict } from "@/lib/errors";
import type { AccessToken, ApiKey, KeyLookup } from "@/lib/keys/api-key";
import type { Counted } from "@/lib/keys/decide";

/** One HTTP or tool call that wants to record: who calls, and what, or what is wrong with it. */
export type IngestCall = {
  lookup: KeyLookup;
  address: string | undefined;
  /** The addresses that an access token may be for, if access tokens are accepted. */
  audiences?: readonly string[];
  /** The call was admitted, and counted against its key's rate, as part of the request that it came in. */
  isAdmitted?: boolean;
  dryRun: boolean;
  /**
   * The messages, each of them or what is wrong with it; or what is wrong with the body as a whole. Either is refused
   * only after the key itself was checked, and the call counts once against its rate.
   */
  body: Verdict<Verdict<IngestRequest>[]>;
};

/** What became of a call, and of each of its messages in order. `caller`: the key, where the call was admitted. */
export type IngestVerdict = Counted<Verdict<Recorded>[]> & {
  caller?: { key: ApiKey; token: AccessToken | null };
};

/** `replayed`: an earlier request with the same idempotency key was answered so. */
export type Recorded = { result: IngestResult; replayed: boolean };

/** What became of the message of a call with one. @throws ServiceError where the call or the message is refused */
export function acceptedOne(outcome: IngestVerdict["outcome"]): Recorded {
  const [verdict] = accepted(outcome);
  if (!verdict) throw new Error("A call with one message has one verdict.");
  return accepted(verdict);
}

/** The permission each type of message needs (specification section 4). */
export const permissionOf = {
  usage: "log_usage",
  batch: "log_usage",
  allocation: "log_usage",
  expense: "add_expenses",
  subscription: "manage_subscriptions",
} satisfies Record<MessageType, Permission>;
