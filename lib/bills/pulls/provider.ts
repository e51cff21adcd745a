import { z } from "zod";
import { cents, type Dollars, dollars, dollarsOf } from "@/lib/bills/money";
import { billedUnit, readCoordinates } from "@/lib/bills/read-row";
import type { BilledRow } from "@/lib/bills/statements";
import { ExactNumber } from "@/lib/contract/values/exact-number";
import { DecimalError, parseDecimal, shiftDecimal } from "@/lib/decimal";

/** Days from one to before another, `YYYY-MM-DD`. */
export type DayRange = { from: string; until: string };

/** A row of a day, as a provider bills it. */
export type PulledRow = Omit<BilledRow, "provider" | "account" | "from" | "until">;

/** The rows of one or more days, earliest first. A day may continue on the next page. */
export type PulledPage = { day: string; rows: PulledRow[] }[];

/**
 * Asks a provider for a document. Its numbers are `ExactNumber`.
 * @param query parameters; a name may occur several times
 * @param body is sent as JSON
 * @param method GET without it, POST with a body
 * @throws ProviderRefusal, ProviderFailure
 */
export type Ask = <T>(
  path: string,
  query: [name: string, value: string][],
  schema: z.ZodType<T>,
  headers?: Record<string, string>,
  body?: object,
  method?: "POST" | "PATCH" | "PUT" | "DELETE",
) => Promise<T>;

/** The seats of an account: their number, how many were not used for `unusedDays`, and the monthly price of one. */
export type Seats = { count: number; unused: number; usd: Dollars | null };

/** The days without use after which a seat counts as unused. */
export const unusedDays = 30;

/** A provider whose costs are pulled. */
export type Provider = {
  /** Its address, without a path. */
  url: string;
  /** How many past days it still changes; they are read again by each pull. */
  changingDays: number;
  /** How many past days it has at all; any where it does not say. */
  farthestDays?: number;
  /** The headers that authorize a request. */
  authorize: (key: string) => Record<string, string>;
  /** Reads the costs of some days. Days without costs may be missing. @param account its name */
  pull: (ask: Ask, range: DayRange, account: string) => AsyncGenerator<PulledPage>;
  /** Counts the seats, for providers that bill seats. */
  countSeats?: (ask: Ask, today: string, account: string) => Promise<Seats>;
};

/** A cloud whose bills are exports in a bucket. `changingDays`: as of `Provider`. */
export type BucketProvider = { store: "s3" | "azure"; changingDays: number; farthestDays?: number };

/** The provider has refused a request: another attempt with the same key is no use. */
export class ProviderRefusal extends Error {
  override name = "ProviderRefusal";
  /** @param status of its answer. @param words what it says */
  constructor(
    readonly status: number,
    words: string,
  ) {
    super(words);
  }
}

/** The provider cannot be read now. */
export class ProviderFailure extends Error {
  override name = "ProviderFailure";
  /** @param retryAfterMs how long it asks to wait */
  constructor(
    message: string,
    readonly retryAfterMs?: number,
  ) {
    super(message);
  }
}

const decimalText = z.union([z.instanceof(ExactNumber).transform(({ text }) => text), z.string()], {
  error: "must be a decimal",
});

const money = (read: (text: string) => Dollars) =>
  decimalText.transform((text, context) => {
    try {
      return read(text);
    } catch (error) {
      if (!(error instanceof DecimalError)) throw error;
      context.addIssue(error.message);
      return z.NEVER;
    }
  });

/** An amount that the provider states in dollars, as a number or as text. */
export const inDollars = money((text) => dollars(text));
/** An amount that the provider states in cents, as a number or as text. */
export const inCents = money((text) => dollarsOf(cents(text)));

/** A number that is no money. */
export const exactNumber = z.instanceof(ExactNumber, { error: "must be a number" });
/** A whole number of seconds since 1970, as its UTC day. */
export const dayOfSeconds = exactNumber
  .refine(({ text }) => /^\d{9,10}$/.test(text), { error: "must be whole seconds since 1970" })
  .transform(({ text }) => new Date(Number(text) * 1000).toISOString().slice(0, 10));
/** Text that may be null, or missing in older answers. */
export const optionalText = z.string().nullish();
/** What other amounts than USD are refused by. */
export const usd = z
  .string()
  .refine((code) => code.toUpperCase() === "USD", { error: "must be USD: bills are in USD" });

/** Where a list goes on, or undefined. @throws ProviderFailure where there is more and no page is named */
export function nextPage(answer: {
  has_more: boolean;
  next_page?: string | null | undefined;
}): string | undefined {
  if (!answer.has_more) return undefined;
  if (!answer.next_page) throw new ProviderFailure("It says that there is more, and names no next page.");
  return answer.next_page;
}

/** A row as it is stored: names are clipped, units and tiers have their names here. */
export function toRow(given: {
  line?: string | null | undefined;
  model?: string | null | undefined;
  tier?: string | null | undefined;
  key?: string | null | undefined;
  user?: string | null | undefined;
  unit?: string | null | undefined;
  quantity?: string | undefined;
  amount: Dollars;
  list?: Dollars;
}): PulledRow {
  const { line, model, tier, key, user } = readCoordinates((field) =>
    field === "provider" || field === "account" ? undefined : (given[field] ?? undefined),
  );
  const { unit, places } = billedUnit(given.unit ?? undefined);
  const quantity =
    unit === null || given.quantity === undefined ? null : shiftDecimal(parseDecimal(given.quantity), places);
  return { line, model, tier, key, user, unit, quantity, amount: given.amount, list: given.list ?? null };
}

/** Waits for an answer. @returns undefined where the provider answers 404 */
export async function unlessMissing<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ProviderRefusal && error.status === 404) return undefined;
    throw error;
  }
}
