import type { CostMessage } from "@/lib/contract/ledger/message";
import { dayOf } from "@/lib/contract/values/instant";
import { isCurrency } from "@/lib/currencies";
import { compare, parseDecimal } from "@/lib/decimal";
import { type Issue, type ServiceError, validationFailed } from "@/lib/errors";
import { convert, currencyDecimalsIssue } from "@/lib/ledger/pricing/currency";
import { addMonths } from "@/lib/ledger/recurring/periods";
import { isOneLine, occurredAt } from "./compose";

/** How far in the future `occurred_at` may be, because clocks differ. */
const maxAheadMs = 5 * 60_000;

/** How far in the future a subscription's period may begin, because it can be paid in advance. */
const maxPeriodAheadMs = 366 * 86_400_000;

/** How far back a recurring subscription may begin, because every period since then is charged at once. */
const maxMonthsBack = 24;

const earliest = Date.UTC(2000, 0, 1);

type Of<Type extends CostMessage["type"]> = Extract<CostMessage, { type: Type }>;

/**
 * Checks what the schema cannot: rules that need the clock, the currencies or two fields at once.
 * @param now milliseconds since 1970, by the database's clock
 * @returns a `validation_failed` that names every field and remedy, or undefined
 */
export function checkMessage(message: CostMessage, now: number): ServiceError | undefined {
  const issues = [...checkTime(message.occurred_at, now), ...checkType(message, now)];
  if (issues.length === 0) return undefined;
  return validationFailed(
    issues.map(({ path, message: text }) => ({ path: `message.${path}`, message: text })),
  );
}

/** How many lines a message counts for: the items of a batch, otherwise one, even for the lines of a model's call. */
export function linesOf(message: CostMessage): number {
  return message.type === "batch" ? message.items.length : 1;
}

function checkTime(occurredAt: string | undefined, now: number): Issue[] {
  if (occurredAt === undefined) return [];
  const at = Date.parse(occurredAt);
  if (at > now + maxAheadMs)
    return [{ path: "occurred_at", message: "must not be more than 5 minutes ahead" }];
  if (at < earliest) return [{ path: "occurred_at", message: "must not be before the year 2000" }];
  return [];
}

function checkType(message: CostMessage, now: number): Issue[] {
  switch (message.type) {
    case "usage":
      return isOneLine(message) ? checkCached(message, "") : [];
    case "batch":
      return message.items.flatMap((item, index) => checkCached(item, `items.${index}.`));
    case "expense":
      return checkAmount(message);
    case "subscription":
      return [...checkAmount(message), ...checkPeriod(message, now)];
    case "allocation":
      return checkAllocation(message);
  }
}

function checkCached(
  line: { quantity: string; cached_quantity?: string | undefined },
  place: string,
): Issue[] {
  if (line.cached_quantity === undefined) return [];
  if (compare(parseDecimal(line.cached_quantity), parseDecimal(line.quantity)) <= 0) return [];
  return [
    { path: `${place}cached_quantity`, message: "must not be more than quantity, of which it is a part" },
  ];
}

/** Amounts in USD may have fractions of a cent. Amounts in other currencies have at most the currency's decimals, as on an invoice. */
export function checkAmount({ amount, currency }: { amount: string; currency: string }): Issue[] {
  if (currency === "USD") return [];
  if (!isCurrency(currency))
    return [{ path: "currency", message: `${currency} is not an ISO 4217 currency` }];
  if (!isConvertible(currency))
    return [{ path: "currency", message: `there is no exchange rate for ${currency}` }];
  const problem = currencyDecimalsIssue(parseDecimal(amount), currency);
  return problem === undefined ? [] : [{ path: "amount", message: problem }];
}

/** A few ISO codes (metals, funds, testing) have no rate. */
function isConvertible(currency: string): boolean {
  try {
    convert(parseDecimal("1"), currency, "2000-01-01");
    return true;
  } catch {
    return false;
  }
}

function checkPeriod(message: Of<"subscription">, now: number): Issue[] {
  const { starts_on: startsOn, ends_on: endsOn, recurring } = message;
  const issues: Issue[] = [];
  if (startsOn !== undefined && Date.parse(startsOn) < earliest) {
    issues.push({ path: "starts_on", message: "must not be before the year 2000" });
  }
  if (startsOn !== undefined && Date.parse(startsOn) > now + maxPeriodAheadMs) {
    issues.push({ path: "starts_on", message: "must not be more than a year ahead" });
  }
  if (endsOn !== undefined && !recurring) {
    issues.push({
      path: "ends_on",
      message: "can only be set with recurring: true; a single charge ends with its period",
    });
  }
  const first = startsOn ?? occurredAt(message, now).slice(0, 10);
  const earliestStart = addMonths(dayOf(now), -maxMonthsBack);
  if (recurring && first < earliestStart) {
    issues.push({
      path: startsOn === undefined ? "occurred_at" : "starts_on",
      message: `must not be more than ${maxMonthsBack} months back where recurring is true (not before ${earliestStart})`,
    });
  }
  if (endsOn !== undefined && endsOn < first) {
    issues.push({ path: "ends_on", message: "must not be before the first period begins" });
  }
  return issues;
}

function checkAllocation(message: Of<"allocation">): Issue[] {
  if ((message.amount === undefined) === (message.percent === undefined)) {
    return [{ path: "amount", message: "give either amount or percent" }];
  }
  if (message.percent !== undefined && compare(parseDecimal(message.percent), parseDecimal("100")) > 0) {
    return [{ path: "percent", message: "must not be more than 100" }];
  }
  return [];
}
