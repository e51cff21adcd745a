import { ServiceError } from "@/lib/errors";
import type { TreeSpan } from "@/lib/ledger/telemetry/span-tree";
import type { AccountRow } from "./account";
import type { SourceRecord } from "./mapping/source-record";

/** What an item of a body is: a call with usage, nothing to record, or something that cannot be read. */
export type DecodedItem = SourceRecord | "no usage" | ServiceError;

/**
 * What a body tells: its calls, remarks for whoever runs the emitter, why other records were refused, and what became of the
 * records that tell usage and are none of these.
 */
export type Decoded = {
  told: DecodedItem[];
  /** The spans of a trace that tell no call of their own. */
  spans: TreeSpan[];
  remarks: string[];
  refused: Refused[];
  leftOut: AccountRow[];
};

export function isRecord(item: DecodedItem): item is SourceRecord {
  return typeof item === "object" && !(item instanceof ServiceError);
}

/** Why records of a request were refused before they were messages, and how many. */
export type Refused = { error: ServiceError; count: number };

/** Counts refused records by their reason. */
export class Refusals {
  readonly #byReason = new Map<string, Refused>();

  add(error: ServiceError, count = 1): void {
    const reason = `${error.code} ${error.message}`;
    const known = this.#byReason.get(reason);
    if (known) known.count += count;
    else this.#byReason.set(reason, { error, count });
  }

  list(): Refused[] {
    return [...this.#byReason.values()];
  }
}
