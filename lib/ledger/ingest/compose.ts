import { toTagList } from "@/lib/contract/ledger/attribution";
import type { CostMessage } from "@/lib/contract/ledger/message";
import { toInstant } from "@/lib/contract/values/instant";
import {
  add,
  type Decimal,
  divideMoney,
  multiply,
  parseDecimal,
  subtract,
  sum,
  toText,
  zero,
} from "@/lib/decimal";
import { convert } from "@/lib/ledger/pricing/currency";
import { type PricedAmount, type PriceOverride, priceUsage } from "@/lib/ledger/pricing/price-message";
import { addMonths } from "@/lib/ledger/recurring/periods";
import type { Posting } from "./ledger";

type Of<Type extends CostMessage["type"]> = Extract<CostMessage, { type: Type }>;

/** What a message's cost depends on besides the message. */
export type CostContext = {
  /** Milliseconds since 1970: when a message without `occurred_at` occurred. */
  now: number;
  /** The workspace's own prices; the same array as long as they do not change. */
  overrides: readonly PriceOverride[];
};

/** The rate that an amount was converted at, as answers have it; amounts are text. */
export type StatedRate = { usd_per_unit: string; rate_date: string; source: string; is_old: boolean };

/**
 * A message with its cost. `cost` is what its key spends, the sum of the postings. `amount` is the message's amount:
 * the same, except for an allocation, which moves an amount and costs nothing. `fromProject`: the slug of the project of the
 * second posting, where that is not the message's own. `rate`: of an amount in another currency than USD.
 */
export type Composed = {
  cost: Decimal;
  amount: Decimal;
  postings: [Posting, ...Posting[]];
  fromProject?: string;
  rate?: StatedRate | undefined;
};

/** A message whose cost depends only on itself, prices and currencies. */
export type CostedMessage = Exclude<CostMessage, { type: "allocation" }>;

/** Computes a message's cost and its postings. Pure: the same message in the same context gives the same postings. */
export function composeMessage(message: CostedMessage, context: CostContext): Composed {
  switch (message.type) {
    case "usage":
      return composeUsage(message, context);
    case "batch":
      return composeBatch(message, context);
    case "expense":
      return composeExpense(message, context);
    case "subscription":
      return composeSubscription(message, context);
  }
}

const decimalOf = (text: string | undefined) => (text === undefined ? undefined : parseDecimal(text));

/** When the message occurred, ISO 8601 in UTC. */
export function occurredAt(message: CostMessage, now: number): string {
  return new Date(message.occurred_at ?? now).toISOString();
}

/** The fields that all postings of a message share. */
export function sharedFields(message: CostMessage, now: number) {
  const { type, label, metadata } = message;
  return { type, label, metadata, tags: toTagList(message.tags), occurred_at: occurredAt(message, now) };
}

/** A line of usage, alone or within a batch. */
export type BatchItem = Omit<Of<"batch">["items"][number], "feature">;

/** Whether a usage is one line; the contract requires that or `lines`. */
export function isOneLine<T extends Of<"usage">>(message: T): message is T & BatchItem {
  return message.unit_type !== undefined && message.quantity !== undefined;
}

/** The cost of a line of usage. @param at when it occurred */
export function priceUsageLine(
  provider: string,
  line: BatchItem,
  at: Date,
  overrides: readonly PriceOverride[],
): PricedAmount {
  return priceUsage({
    provider,
    model: line.model,
    unitType: line.unit_type,
    quantity: parseDecimal(line.quantity),
    cachedQuantity: decimalOf(line.cached_quantity),
    inputQuantity: decimalOf(line.request_input_tokens),
    serviceTier: line.service_tier,
    estimatedCost: decimalOf(line.estimated_cost),
    occurredAt: at,
    overrides,
  });
}

/** The columns of a posting that come from its line. */
function lineFields(
  line: BatchItem & { feature?: string | undefined },
  priced: PricedAmount,
  isIncluded: boolean,
) {
  const {
    model,
    feature,
    user,
    session,
    unit_type,
    quantity,
    cached_quantity,
    request_input_tokens,
    service_tier,
  } = line;
  const hasDetails = (cached_quantity ?? request_input_tokens ?? service_tier) !== undefined;
  return {
    model,
    feature,
    end_user: user,
    session,
    unit_type,
    quantity,
    price: priced.price ?? undefined,
    details: hasDetails ? { cached_quantity, request_input_tokens, service_tier } : undefined,
    ...costFields(priced, isIncluded),
  };
}

/** What a line costs, as its posting has it. What a subscription covers costs nothing; its price is kept beside it. */
export function costFields(
  priced: PricedAmount,
  isIncluded: boolean,
): Pick<Posting, "amount_usd" | "cost_status" | "list_price_usd"> {
  const { costStatus, amount } = priced;
  if (!isIncluded) return { cost_status: costStatus, amount_usd: toText(amount), list_price_usd: undefined };
  const listPrice = costStatus === "unpriced" ? undefined : toText(amount);
  return { cost_status: "included", amount_usd: toText(zero), list_price_usd: listPrice };
}

function composeUsage(message: Of<"usage">, { now, overrides }: CostContext): Composed {
  const { provider, batch_id } = message;
  if (!isOneLine(message)) return composeLines(message, { now, overrides });
  const { type, label, metadata, tags, occurred_at } = sharedFields(message, now);
  const isIncluded = message.included === true;
  const priced = priceUsageLine(provider, message, new Date(occurred_at), overrides);
  const amount = isIncluded ? zero : priced.amount;
  const own = {
    type,
    label,
    metadata,
    tags,
    occurred_at,
    provider,
    batch_id,
    ...lineFields(message, priced, isIncluded),
  };
  return { cost: amount, amount, postings: [own] };
}

/**
 * A call of a model: a posting a line. The first one also says how many there are, by which reads tell it from a usage of
 * one line.
 */
function composeLines(message: Of<"usage">, context: CostContext): Composed {
  const { model, feature, user, session, request_input_tokens, service_tier, lines = [] } = message;
  const shared = { model, feature, user, session, request_input_tokens, service_tier };
  // Names a line's fields and spreads last, as `rowOf` in `group.ts` does and says why.
  const items = lines.map(({ unit_type, quantity, estimated_cost }) => ({
    unit_type,
    quantity,
    estimated_cost,
    ...shared,
  }));
  const composed = composePostings(message, items, context);
  const [first] = composed.postings;
  if (items.length > 1) first.details = { ...(first.details as object | undefined), lines: items.length };
  return composed;
}

/** A posting a line. What is said of the message as a whole, its label and metadata, is kept once: with the first. */
function composeBatch(message: Of<"batch">, context: CostContext): Composed {
  return composePostings(message, message.items, context);
}

const noLabel = { label: undefined, metadata: undefined };

function composePostings(
  message: Of<"batch"> | Of<"usage">,
  items: (BatchItem & { feature?: string | undefined })[],
  { now, overrides }: CostContext,
): Composed {
  const { type, label, metadata, tags, occurred_at } = sharedFields(message, now);
  const { provider, batch_id } = message;
  const isIncluded = message.type === "usage" && message.included === true;
  const amounts: Decimal[] = [];
  const at = new Date(occurred_at);
  const postings = items.map((line, part): Posting => {
    const priced = priceUsageLine(provider, line, at, overrides);
    amounts.push(isIncluded ? zero : priced.amount);
    const own = part === 0 ? { label, metadata } : noLabel;
    return {
      type,
      label: own.label,
      metadata: own.metadata,
      tags,
      occurred_at,
      provider,
      batch_id,
      part,
      ...lineFields(line, priced, isIncluded),
    };
  });
  const amount = sum(amounts);
  const composed = postings as [Posting, ...Posting[]];
  if (composed.length > 1) composed[0].lines_usd = toText(amount);
  return { cost: amount, amount, postings: composed };
}

/**
 * The day whose rate converts an amount: that on which the cost occurs, or on which it is recorded if it occurs later.
 * @param occurredAt ISO 8601, as the first posting has it
 * @param now milliseconds since 1970
 */
export function rateDay(occurredAt: string, now: number): string {
  return toInstant(Math.min(Date.parse(occurredAt), now)).slice(0, 10);
}

/** An amount in USD with its origin: given by the client, or converted at a rate that is stored with it. */
function inUsd({ amount, currency }: { amount: string; currency: string }, day: string) {
  const conversion = convert(parseDecimal(amount), currency, day);
  const original = { currency, original_amount: amount };
  if (conversion.status === "unconverted") {
    return { usd: conversion.amountUsd, fields: { ...original, cost_status: "client" as const } };
  }
  const { rate, rateDate: date, rateSource: source, isOld } = conversion;
  return {
    usd: conversion.amountUsd,
    fields: { ...original, cost_status: "converted" as const, price: { rate, date, source } },
    rate: { usd_per_unit: rate, rate_date: date, source, is_old: isOld },
  };
}

function composeExpense(message: Of<"expense">, { now }: CostContext): Composed {
  const shared = sharedFields(message, now);
  const { usd, fields, rate } = inUsd(message, rateDay(shared.occurred_at, now));
  const { vendor: provider, category, notes } = message;
  return { ...single(usd, { ...shared, ...fields, provider, category, notes }), rate };
}

/** A year's charge as twelve monthly postings that sum to it exactly; the remainder goes to the last. */
function composeSubscription(message: Of<"subscription">, { now }: CostContext): Composed {
  const shared = sharedFields(message, now);
  const { starts_on, interval, plan, seats, vendor: provider } = message;
  const at = starts_on === undefined ? shared.occurred_at : `${starts_on}T00:00:00.000Z`;
  const firstDay = at.slice(0, 10);
  const { usd, fields, rate } = inUsd(message, rateDay(at, now));
  const common = { ...shared, ...fields, provider, details: { interval, plan, seats, starts_on: firstDay } };
  if (interval === "month") return { ...single(usd, { ...common, occurred_at: at }), rate };
  const monthly = spreadYear(usd);
  const posting = (part: number): Posting => ({
    ...common,
    part,
    occurred_at: `${addMonths(firstDay, part)}${at.slice(10)}`,
    amount_usd: toText(monthly(part)),
  });
  return {
    cost: usd,
    amount: usd,
    postings: [posting(0), ...Array.from({ length: 11 }, (_, index) => posting(index + 1))],
    rate,
  };
}

/** What each of the twelve months, 0 to 11, has of a year's charge. They sum to it exactly; the last has the remainder. */
export function spreadYear(usd: Decimal): (month: number) => Decimal {
  const monthly = divideMoney(usd, parseDecimal("12"));
  const last = subtract(usd, multiply(monthly, parseDecimal("11")));
  return (month) => (month === 11 ? last : monthly);
}

function single(amount: Decimal, posting: Omit<Posting, "amount_usd">): Composed {
  return { cost: amount, amount, postings: [{ ...posting, amount_usd: toText(amount) }] };
}

/**
 * An allocation's two postings: an amount to its project and the same amount from the other. They sum to zero, so its
 * key spends nothing.
 */
export function composeAllocation(message: Of<"allocation">, amount: Decimal, now: number): Composed {
  const shared = { ...sharedFields(message, now), notes: message.notes, cost_status: "client" as const };
  const details = {
    from_project: message.from_project,
    ...(message.percent !== undefined && { percent: message.percent }),
  };
  return {
    cost: add(amount, subtract(zero, amount)),
    amount,
    postings: [
      { ...shared, details, amount_usd: toText(amount) },
      { ...shared, details, part: 1, amount_usd: toText(subtract(zero, amount)) },
    ],
    fromProject: message.from_project,
  };
}
