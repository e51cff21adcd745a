import type { IngestRequest, IngestResult, MessageType } from "@/lib/contract/message";
import type { Permission } from "@/lib/contract/permissions";
import type { ServiceError } from "@/lib/errors";
import type { KeyLookup } from "@/lib/keys/api-key";
import type { RateStatus } from "@/lib/keys/decide";

/** One HTTP or tool call that wants to record: who calls, and what, or what is wrong with it. */
export type IngestCall = {
  lookup: KeyLookup;
  address: string | undefined;
  dryRun: boolean;
  /** A body that could not be read is refused only after the key itself was checked, and counts against its rate. */
  body: IngestRequest | ServiceError;
};

/** What became of a call. `rate` is there where the key has a rate limit. */
export type IngestVerdict = { outcome: Recorded | ServiceError; rate: RateStatus | null };

/** `replayed`: an earlier request with the same idempotency key was answered so. */
export type Recorded = { result: IngestResult; replayed: boolean };

/** The permission each type of message needs (specification section 4). */
export const permissionOf = {
  usage: "log_usage",
  expense: "add_expenses",
} satisfies Record<MessageType, Permission>;
