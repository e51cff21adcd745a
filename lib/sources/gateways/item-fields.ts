import { z } from "zod";

/*
 * Fields of gateways' items. Null is the same as missing. A field of a wrong type is refused and named, because ignoring a count would
 * lose a cost.
 */

/** The largest plausible count of tokens of one call. */
const maxCount = 1e12;

export const count = z
  .number("must be a number of tokens")
  .refine(Number.isInteger, "must be a whole number of tokens")
  .min(0, "must not be negative")
  .max(maxCount, "is more than one call can use")
  .nullish();

export const usd = z
  .number("must be a number (USD)")
  .min(0, "must not be negative")
  .max(1e9, "is too much")
  .nullish();

export const name = z.string("must be text").nullish();

/** Seconds since 1970, from the year 2000 to 2100. */
export const seconds = z
  .number("must be seconds since 1970")
  .min(946_684_800, "must be seconds since 1970, not before the year 2000")
  .max(4_102_444_800, "must be seconds since 1970, not milliseconds")
  .nullish();

/** An object of which only these members are read. */
export function members<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.looseObject(shape, "must be an object").nullish();
}

/** Anthropic's counts of tokens written to the cache, by their time to live. */
export const cacheCreation = members({ ephemeral_5m_input_tokens: count, ephemeral_1h_input_tokens: count });
