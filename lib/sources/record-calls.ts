import { compare, parseDecimal, roundMoney, toText } from "@/lib/decimal";
import { accepted, ServiceError, type Verdict } from "@/lib/errors";
import type { ApiKey, KeyLookup } from "@/lib/keys/api-key";
import type { Around, Emitter, Recorded } from "@/lib/ledger/ingest/call";
import { ingestReported } from "@/lib/ledger/ingest/service";
import type { TreeSpan } from "@/lib/ledger/telemetry/span-tree";
import type { SourceRecord } from "./mapping/source-record";
import { toMessage } from "./mapping/to-message";

/** The caller of a request that was admitted and counted against the key's rate. */
export type Exporter = { key: ApiKey; lookup: KeyLookup; address: string | undefined };

/** The most messages in one call of the ledger. A larger export is split into several calls. */
const maxMessages = 500;

/** A larger cost of a call is ignored as implausible. USD */
const maxCost = parseDecimal("1e15");

/**
 * Records each call of a model as one message. Calls that were recorded before are not recorded again.
 * @param spans the other spans of the export, which report no call
 * @returns a verdict for each record, in order
 * @throws ServiceError if it is unknown what was recorded, or if the key may no longer be used; then all records can be sent again
 */
export async function recordCalls(
  { key, lookup, address }: Exporter,
  records: SourceRecord[],
  spans: TreeSpan[] = [],
): Promise<Verdict<Recorded>[]> {
  const verdicts: Verdict<Recorded>[] = [];
  for (let start = 0; start < records.length || (start === 0 && spans.length > 0); start += maxMessages) {
    const part = records.slice(start, start + maxMessages);
    const { outcome } = await ingestReported({
      lookup,
      address,
      dryRun: false,
      spans: start === 0 ? spans : [],
      body: part.map((record) => ({
        message: toMessage(record, key),
        callKeys: record.keys,
        emitter: emitterOf(record),
      })),
    });
    const own = accepted(outcome);
    verdicts.push(...own);
    own.forEach((verdict, index) => {
      if (!(verdict instanceof ServiceError)) markRemembered(part[index]?.keys.within ?? []);
    });
  }
  return verdicts;
}

/** The emitter with the cost that it reported, rounded as the ledger stores amounts. */
function emitterOf({ emitter, givenCostUsd }: SourceRecord): Emitter {
  const isStorable = givenCostUsd !== undefined && compare(givenCostUsd, maxCost) < 0;
  return { name: emitter, costUsd: isStorable ? toText(roundMoney(givenCostUsd)) : undefined };
}

/** Notes that the marks of these spans and of all around them are stored, so that the next part need not store them. */
function markRemembered(within: readonly Around[]): void {
  for (const start of within) {
    for (let at: Around | undefined = start; at && !at.isRemembered; at = at.outer) at.isRemembered = true;
  }
}
