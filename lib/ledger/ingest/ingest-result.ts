import type { IngestResult } from "@/lib/contract/ledger/ingest-result";
import { ExactNumber } from "@/lib/contract/values/exact-number";
import { toInstant } from "@/lib/contract/values/instant";
import { compare, type Decimal, parseDecimal, subtract, sum, toText, zero } from "@/lib/decimal";
import type { ApiKey } from "@/lib/keys/api-key";
import type { Hold, ReservationRow } from "@/lib/keys/holds";
import type { StatedRate } from "./compose";
import type { Posting } from "./ledger";

/** What included usage would have cost, USD as text, as far as prices are known; null if none is, undefined for other messages. */
export function listPriceOf(
  postings: readonly Pick<Posting, "cost_status" | "list_price_usd">[],
): string | null | undefined {
  if (!postings.some(({ cost_status }) => cost_status === "included")) return undefined;
  const known = postings.flatMap(({ list_price_usd: price }) => price ?? []);
  return known.length === 0 ? null : toText(sum(known.map(parseDecimal)));
}

/** When the first adjustment among these postings occurred, ISO 8601; undefined if there is none. */
export function adjustedBy(postings: readonly Pick<Posting, "adjusts">[]): string | undefined {
  const adjusting = postings.find(({ adjusts }) => adjusts !== undefined);
  return adjusting?.adjusts && toInstant(Date.parse(adjusting.adjusts));
}

/**
 * The `over_limit` of a stored answer: set if the key is past its monthly limit and its limit records such messages instead of refusing
 * them. @param spent USD in this UTC month, including the message
 */
export function overLimit({ monthlyLimit: limit, onLimit }: ApiKey, spent: Decimal) {
  if (limit === null || onLimit !== "record" || compare(spent, limit) <= 0) return undefined;
  return { limit_usd: toText(limit), spent_usd: toText(spent) };
}

/** The `reservation` of a stored answer: the outcome of the reservation that the message named. @param cost of the message, USD */
export function settlementOf(
  id: string | undefined,
  hold: Hold | undefined,
  state: ReservationRow["state"] | undefined,
  cost: Decimal,
) {
  if (id === undefined) return undefined;
  // A reservation that was loaded as held, but is not held any more, was settled by another message of the group.
  if (!hold)
    return {
      id,
      state: state === undefined ? "unknown" : state === "held" ? "settled_before" : endOf(state),
    };
  const over = subtract(cost, hold.usd);
  return {
    id,
    state: "settled",
    held_usd: toText(hold.usd),
    ...(compare(over, zero) > 0 && { over_usd: toText(over) }),
  };
}

const endOf = (state: "settled" | "released" | "expired") => (state === "settled" ? "settled_before" : state);

/** Converts a stored answer to the contract's: decimals are stored as text and sent as numbers. */
export function toIngestResult(stored: unknown): IngestResult {
  const answer = stored as StoredAnswer;
  const {
    amount_usd: amount,
    list_price_usd: listPrice,
    rate,
    due_periods: due,
    over_limit: over,
    reservation,
  } = answer;
  // Changes a copy, because a spread that is followed by other properties is slow; see `rowOf` in `ledger.ts`.
  const result: Record<string, unknown> = { ...answer };
  result.amount_usd = new ExactNumber(amount);
  if (typeof listPrice === "string") result.list_price_usd = new ExactNumber(listPrice);
  if (rate) result.rate = { ...rate, usd_per_unit: new ExactNumber(rate.usd_per_unit) };
  if (over) {
    const { limit_usd: limit, spent_usd: spent } = over;
    result.over_limit = { limit_usd: new ExactNumber(limit), spent_usd: new ExactNumber(spent) };
  }
  if (reservation) {
    const { held_usd: held, over_usd: past, ...rest } = reservation;
    result.reservation = {
      ...rest,
      ...(held !== undefined && { held_usd: new ExactNumber(held) }),
      ...(past !== undefined && { over_usd: new ExactNumber(past) }),
    };
  }
  if (due) {
    result.due_periods = due.map((period) => ({ ...period, amount_usd: new ExactNumber(period.amount_usd) }));
  }
  return result as IngestResult;
}

type DuePeriod = NonNullable<IngestResult["due_periods"]>[number];
type StoredAnswer = Omit<
  IngestResult,
  "amount_usd" | "list_price_usd" | "rate" | "due_periods" | "over_limit" | "reservation"
> & {
  over_limit?: { limit_usd: string; spent_usd: string };
  reservation?: { id: string; state: string; held_usd?: string; over_usd?: string };
  amount_usd: string;
  rate?: StatedRate;
  list_price_usd?: string | null;
  due_periods?: (Omit<DuePeriod, "amount_usd"> & { amount_usd: string })[];
};
