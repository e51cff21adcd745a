import { ServiceError } from "@/lib/errors";
import type { TreeSpan } from "@/lib/ledger/telemetry/span-tree";
import type { SourceRecord } from "./mapping/source-record";
import type { OutcomeCount } from "./outcome-counts";

/** A decoded item of a body: a call with usage, an item without usage, or the refusal of an item that cannot be read. */
export type DecodedItem = SourceRecord | "no usage" | ServiceError;

/**
 * A decoded body. `items`: its calls. `remarks`: for whoever runs the emitter. `refused`: the records that cannot be read. `leftOut`: the
 * outcomes of the other records that report usage.
 */
export type Decoded = {
  items: DecodedItem[];
  /** The spans that report no call. */
  spans: TreeSpan[];
  remarks: string[];
  refused: Refused[];
  leftOut: OutcomeCount[];
};

/** Whether an item is a call with usage. */
export function isRecord(item: DecodedItem): item is SourceRecord {
  return typeof item === "object" && !(item instanceof ServiceError);
}

/** Records that were refused for one reason before they became messages. `count`: their number. */
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
