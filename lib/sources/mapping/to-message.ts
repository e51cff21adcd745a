import { ExactNumber } from "@/lib/contract/values/exact-number";
import { isZero, parseDecimal, toText } from "@/lib/decimal";
import type { ApiKey } from "@/lib/keys/api-key";
import type { ReportedMessage } from "@/lib/ledger/ingest/parse-reported";
import { catalogueRate } from "@/lib/ledger/pricing/catalogue";
import { counted, type TokenKind, tokenKinds } from "@/lib/sources/emitters/emitter";
import { cutText } from "./first-of";
import { type ReportedLine, withGivenCost } from "./given-cost";
import type { SourceRecord } from "./source-record";
import { featureOf, isCovered, projectOf, tagsOf, trustsCost } from "./source-settings";
import { apart } from "./tokens";

/** Converts a record to a message in the form in which clients send it. Names are cut to the ledger's lengths. */
export function toMessage(record: SourceRecord, key: ApiKey): ReportedMessage {
  const { provider, model, user, session, occurredAt, requestInput, tier } = record;
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
      service_tier: tier,
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

/**
 * A line for each kind of tokens and tools, or one for the request if it was billed without counts. Reasoning is part of the output,
 * unless the model has a separate price for it.
 */
function linesOf(record: SourceRecord): ReportedLine[] {
  const isApart = (kind: TokenKind) => kind !== "reasoning" || hasOwnPrice(record, counted[kind].unit);
  const counts = apart(record.tokens, isApart);
  const lines: ReportedLine[] = [];
  for (const kind of tokenKinds) {
    const quantity = counts[kind];
    if (quantity && !isZero(quantity)) lines.push({ unitType: counted[kind].unit, quantity });
  }
  return lines.length > 0 ? lines : [{ unitType: "requests", quantity: single }];
}

const single = parseDecimal("1");

function hasOwnPrice({ provider, model, occurredAt, tier }: SourceRecord, unit: string): boolean {
  const at = occurredAt === undefined ? new Date() : new Date(occurredAt);
  const one = { provider, model, occurredAt: at, unitType: unit, quantity: single, serviceTier: tier };
  const rate = catalogueRate(one, unit);
  return typeof rate === "object" && rate.price.unit === unit;
}
