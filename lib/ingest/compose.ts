import type { CostMessage } from "@/lib/contract/message";
import { type Issue, validationFailed } from "@/lib/errors";
import { convert, currencyDecimalsIssue, isCurrency } from "@/lib/pricing/currency";
import { compare, type Decimal, parseDecimal, toText } from "@/lib/pricing/decimal";
import { priceUsage } from "@/lib/pricing/price-message";
import type { Posting } from "./ledger";

/** How far ahead of now a message may say it occurred: clocks differ. */
const maxAheadMs = 5 * 60_000;
const earliest = Date.UTC(2000, 0, 1);

/** A message with its cost: what the ledger would hold, and the sum of it in USD. */
export type Composed = { cost: Decimal; postings: [Posting, ...Posting[]] };

/**
 * What is wrong with a message beyond its shape: what needs the clock, the currencies, or two fields at once.
 * @param now milliseconds since 1970
 * @returns a `validation_failed`, or undefined
 */
export function checkMessage(
  message: CostMessage,
  now: number,
): ReturnType<typeof validationFailed> | undefined {
  const issues: Issue[] = [];
  if (message.occurred_at !== undefined) {
    const occurredAt = Date.parse(message.occurred_at);
    if (occurredAt > now + maxAheadMs)
      issues.push({ path: "message.occurred_at", message: "must not be more than 5 minutes ahead" });
    if (occurredAt < earliest)
      issues.push({ path: "message.occurred_at", message: "must not be before the year 2000" });
  }
  if (message.type === "usage" && message.cached_quantity !== undefined) {
    if (compare(parseDecimal(message.cached_quantity), parseDecimal(message.quantity)) > 0) {
      issues.push({
        path: "message.cached_quantity",
        message: "must not be more than quantity, of which it is a part",
      });
    }
  }
  if (message.type === "expense") {
    issues.push(...checkCurrency(message.amount, message.currency));
  }
  return issues.length > 0 ? validationFailed(issues) : undefined;
}

/** An amount in the ledger's own USD may be finer than a cent; in another currency it is what an invoice can say. */
function checkCurrency(amount: string, currency: string): Issue[] {
  if (currency === "USD") return [];
  if (!isCurrency(currency))
    return [{ path: "message.currency", message: `${currency} is not an ISO 4217 currency` }];
  const problem = currencyDecimalsIssue(parseDecimal(amount), currency);
  return problem === undefined ? [] : [{ path: "message.amount", message: problem }];
}

/**
 * Works out what a message costs and what the ledger will hold of it. Pure: the same message at the same time gives the
 * same postings.
 * @param now milliseconds since 1970: when a message without `occurred_at` occurred
 */
export function composeMessage(message: CostMessage, now: number): Composed {
  const occurredAt = message.occurred_at === undefined ? new Date(now) : new Date(message.occurred_at);
  const shared = {
    type: message.type,
    occurred_at: occurredAt.toISOString(),
    label: message.label,
    metadata: message.metadata,
  };
  switch (message.type) {
    case "usage": {
      const priced = priceUsage({
        provider: message.provider,
        model: message.model,
        unitType: message.unit_type,
        quantity: parseDecimal(message.quantity),
        cachedQuantity:
          message.cached_quantity === undefined ? undefined : parseDecimal(message.cached_quantity),
        estimatedCost:
          message.estimated_cost === undefined ? undefined : parseDecimal(message.estimated_cost),
        occurredAt,
      });
      return {
        cost: priced.amount,
        postings: [
          {
            ...shared,
            provider: message.provider,
            model: message.model,
            feature: message.feature,
            unit_type: message.unit_type,
            quantity: message.quantity,
            batch_id: message.batch_id,
            amount_usd: toText(priced.amount),
            cost_status: priced.costStatus,
            ...(priced.price && { price: priced.price }),
            ...(message.cached_quantity !== undefined && {
              details: { cached_quantity: message.cached_quantity },
            }),
          },
        ],
      };
    }
    case "expense": {
      const conversion = convert(
        parseDecimal(message.amount),
        message.currency,
        occurredAt.toISOString().slice(0, 10),
      );
      return {
        cost: conversion.amountUsd,
        postings: [
          {
            ...shared,
            provider: message.vendor,
            category: message.category,
            notes: message.notes,
            amount_usd: toText(conversion.amountUsd),
            currency: message.currency,
            original_amount: message.amount,
            ...(conversion.status === "converted"
              ? {
                  cost_status: "converted",
                  price: { rate: conversion.rate, date: conversion.rateDate, source: conversion.rateSource },
                }
              : { cost_status: "client" }),
          },
        ],
      };
    }
  }
}
