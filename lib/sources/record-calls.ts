import { compare, parseDecimal, roundMoney, toText } from "@/lib/decimal";
import { accepted, ServiceError, type Verdict } from "@/lib/errors";
import type { ApiKey, KeyLookup } from "@/lib/keys/api-key";
import type { Around, Emitter, Recorded } from "@/lib/ledger/ingest/call";
import { ingestTold } from "@/lib/ledger/ingest/service";
import type { TreeSpan } from "@/lib/ledger/telemetry/span-tree";
import type { SourceRecord } from "./mapping/source-record";
import { toMessage } from "./mapping/to-message";

/** Who exports. The request was admitted, and counted against the key's rate. */
export type Exporter = { key: ApiKey; lookup: KeyLookup; address: string | undefined };

/** The most messages in one call of the ledger; a larger export is several. */
const maxMessages = 500;

/** More than that is no cost of a call. */
const maxCost = parseDecimal("1e15");

/**
 * Records each call of a model as one message. What was recorded before is not recorded again.
 * @param spans further spans of the export, which tell no call of their own
 * @returns what became of each, in order
 * @throws ServiceError where nobody can say what was recorded, or where the key may not be used any more; then all can be
 *   sent again
 */
export async function recordCalls(
  { key, lookup, address }: Exporter,
  records: SourceRecord[],
  spans: TreeSpan[] = [],
): Promise<Verdict<Recorded>[]> {
  const verdicts: Verdict<Recorded>[] = [];
  for (let start = 0; start < records.length || (start === 0 && spans.length > 0); start += maxMessages) {
    const part = records.slice(start, start + maxMessages);
    const { outcome } = await ingestTold({
      lookup,
      address,
      dryRun: false,
      spans: start === 0 ? spans : [],
      body: part.map((record) => ({
        message: toMessage(record, key),
        telling: record.keys,
        emitter: emitterOf(record),
      })),
    });
    const own = accepted(outcome);
    verdicts.push(...own);
    own.forEach((verdict, index) => {
      if (!(verdict instanceof ServiceError)) noteRemembered(part[index]?.keys.within ?? []);
    });
  }
  return verdicts;
}

/** The emitter with its own figure of the cost, as the ledger has amounts. */
function emitterOf({ emitter, givenCostUsd }: SourceRecord): Emitter {
  const isStorable = givenCostUsd !== undefined && compare(givenCostUsd, maxCost) < 0;
  return { name: emitter, costUsd: isStorable ? toText(roundMoney(givenCostUsd)) : undefined };
}

/** Notes that a committed message has remembered these and all around them, so that the next part need not. */
function noteRemembered(within: readonly Around[]): void {
  for (const start of within) {
    for (let at: Around | undefined = start; at && !at.isRemembered; at = at.outer) at.isRemembered = true;
  }
}
