import { ExactNumber } from "@/lib/contract/values/exact-number";
import { type Decimal, isZero, parseDecimal, subtract, toText } from "@/lib/decimal";
import type { ApiKey } from "@/lib/keys/api-key";
import type { ToldMessage } from "@/lib/ledger/ingest/parse-told";
import { catalogueRate } from "@/lib/ledger/pricing/catalogue";
import { cutText } from "./first-of";
import { type ReportedLine, withGivenCost } from "./given-cost";
import type { SourceRecord } from "./source-record";
import { featureOf, isCovered, projectOf, tagsOf, trustsCost } from "./source-settings";

/** A message as clients send it, for a record that a key's emitter told. Names are cut to what the ledger holds. */
export function toMessage(record: SourceRecord, key: ApiKey): ToldMessage {
  const { provider, model, user, session, occurredAt, requestInput } = record;
  const tags = tagsOf(record, key);
  const isIncluded = isCovered(record, key);
  const isCostTrusted = !isIncluded && trustsCost(key.source, record.isCostTrusted);
  const hasInput = requestInput !== undefined && !isZero(requestInput);
  return {
    project: projectOf(record, key),
    source: "api",
    about: {
      type: "usage",
      provider: cutText(provider, 64),
      model: model === undefined ? undefined : cutText(model, 128),
      feature: featureOf(record, key),
      user,
      session,
      tags: Object.keys(tags).length > 0 ? tags : undefined,
      included: isIncluded ? true : undefined,
    },
    counts: {
      occurred_at: occurredAt,
      request_input_tokens: hasInput ? new ExactNumber(toText(requestInput)) : undefined,
      lines: withGivenCost(record, linesOf(record), isCostTrusted),
    },
  };
}

/** A line for each kind of tokens; one for the request where it was billed without tokens. Reasoning is part of the output, unless the model has a price of its own for it. */
function linesOf({ tokens, provider, model, occurredAt }: SourceRecord): ReportedLine[] {
  const { input, cacheRead, cacheWrite, output, reasoning } = tokens;
  const at = occurredAt === undefined ? new Date() : new Date(occurredAt);
  const isApart = reasoning && output && hasOwnPrice(provider, model, at, "output_reasoning_tokens");
  const counts: [string, Decimal | undefined][] = [
    ["input_tokens", input],
    ["cache_read_tokens", cacheRead],
    ["cache_write_tokens", cacheWrite],
    ["output_tokens", isApart ? subtract(output, reasoning) : output],
    ["output_reasoning_tokens", isApart ? reasoning : undefined],
  ];
  const lines = counts.flatMap(([unitType, quantity]) =>
    quantity === undefined || isZero(quantity) ? [] : [{ unitType, quantity }],
  );
  return lines.length > 0 ? lines : [{ unitType: "requests", quantity: single }];
}

const single = parseDecimal("1");

function hasOwnPrice(provider: string, model: string | undefined, at: Date, unit: string): boolean {
  const one = { provider, model, occurredAt: at, unitType: unit, quantity: single };
  const rate = catalogueRate(one, unit);
  return typeof rate === "object" && rate.price.unit === unit;
}
