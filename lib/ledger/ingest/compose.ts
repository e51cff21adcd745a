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

/** What the cost of a message depends on besides the message itself. */
export type CostContext = {
  /** Milliseconds since 1970: when a message without `occurred_at` occurred. */
  now: number;
  /** The workspace's own prices; the same array until they change. */
  overrides: readonly PriceOverride[];
};

/** The exchange rate in an answer; decimals are text. */
export type StatedRate = { usd_per_unit: string; rate_date: string; source: string; is_old: boolean };

/**
 * A message with its cost, in USD. `cost`: the sum of the postings, which the key spends. `amount`: the message's amount, the same as
 * `cost` except for an allocation, which moves an amount and costs nothing. `fromProject`: the slug of the second posting's project, if
 * that is not the message's own. `rate`: set if the amount was in another currency.
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

/** A line of usage: a message of its own or an item of a batch. */
export type BatchItem = Omit<Of<"batch">["items"][number], "feature">;

/** Whether a usage has a unit and a quantity itself; otherwise it has `lines`, by the contract. */
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

/** The cost columns of a posting. Usage that a subscription covers costs nothing; its list price is kept in a column of its own. */
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
 * Composes a call of a model with one posting for each line. The first posting stores the number of lines, by which reads distinguish
 * it from a usage of one line.
 */
function composeLines(message: Of<"usage">, context: CostContext): Composed {
  const { model, feature, user, session, request_input_tokens, service_tier, lines = [] } = message;
  const shared = { model, feature, user, session, request_input_tokens, service_tier };
  // The spread is last for speed; see `rowOf` in `ledger.ts`.
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

/** Composes one posting for each item. The first posting has the label and metadata of the message. */
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
 * The UTC day whose exchange rate applies to an amount: the day on which the cost occurs, or today if it occurs later.
 * @param occurredAt of the first posting, ISO 8601
 * @param now milliseconds since 1970
 */
export function rateDay(occurredAt: string, now: number): string {
  return toInstant(Math.min(Date.parse(occurredAt), now)).slice(0, 10);
}

/** Converts an amount to USD, with the columns that store the original amount and the rate. */
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

/** Composes a subscription: one posting for a month, or twelve monthly postings for a year (`spreadYear`). */
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

/** Spreads a year's charge over the months 0 to 11. The shares sum to the charge exactly; the last month gets the remainder. */
export function spreadYear(usd: Decimal): (month: number) => Decimal {
  const monthly = divideMoney(usd, parseDecimal("12"));
  const last = subtract(usd, multiply(monthly, parseDecimal("11")));
  return (month) => (month === 11 ? last : monthly);
}

function single(amount: Decimal, posting: Omit<Posting, "amount_usd">): Composed {
  return { cost: amount, amount, postings: [{ ...posting, amount_usd: toText(amount) }] };
}

/**
 * Composes an allocation as two postings: the amount for its own project, and the opposite amount for `from_project`. They sum to zero,
 * so the key spends nothing.
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
