import { add, compare, countDecimals, type Decimal, parseDecimal, subtract, zero } from "@/lib/decimal";
import { validationFailed } from "@/lib/errors";
import { counted, type Names, type Rule, type TokenKind, tokenKinds } from "@/lib/sources/emitters/emitter";
import type { Attributes, Scalar } from "@/lib/sources/otlp/entry";
import { firstOf } from "./first-of";
import type { Tokens } from "./source-record";

const one = parseDecimal("1");

type Counts = Partial<Record<TokenKind, Decimal>>;

/**
 * The counts of a span or log record as its emitter reports them, only those above 0.
 * @throws ServiceError as `readTokens`
 */
export function readCounts(rule: Rule, own: Attributes): Counts {
  const counts: Counts = {};
  for (const kind of tokenKinds) {
    const count = readNamed(rule.tokens?.[kind], own);
    if (count) counts[kind] = count;
  }
  if (rule.one) counts[rule.one] = one;
  const further = readNamed(rule.furtherInput, own);
  if (further) counts.input = add(counts.input ?? zero, further);
  return counts;
}

function readNamed(names: Names | undefined, own: Attributes): Decimal | undefined {
  const value = firstOf(names, own);
  return readTokens(value, value === undefined ? undefined : names?.find((name) => own.get(name) === value));
}

/**
 * A count of tokens above 0, or undefined.
 * @param name of the attribute, for the error
 * @throws ServiceError validation_failed if the count is not a whole number
 */
export function readTokens(value: Scalar | undefined, name?: string): Decimal | undefined {
  const count = readCount(value);
  if (count && countDecimals(count) > 0) {
    const where = name === undefined ? "" : `: ${name}`;
    throw validationFailed([
      { path: "record", message: `has a count of tokens that is not a whole number${where}` },
    ]);
  }
  return count;
}

/** A count above 0 as a decimal, or undefined. Some emitters write counts as text. */
export function readCount(value: Scalar | undefined): Decimal | undefined {
  if (value === undefined || typeof value === "boolean") return undefined;
  try {
    const count = parseDecimal(value);
    return compare(count, zero) > 0 ? count : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Separates counts that an emitter counts in each other. If the parts are more than the whole, the whole cannot include them, even if the
 * emitter's rule says so: some versions differ.
 */
export function separate(counts: Counts, rule: Pick<Rule, "inputHasCache" | "outputHasReasoning">): Tokens {
  const { input = zero, cacheRead = zero, output = zero, reasoning = zero } = counts;
  const { cacheWrite5m = zero, cacheWrite1h = zero, cacheWrite12h = zero } = counts;
  // Some emitters report only the parts.
  const parts = add(cacheWrite12h, add(cacheWrite5m, cacheWrite1h));
  const cacheWrite = larger(counts.cacheWrite ?? zero, parts);
  const cached = add(cacheRead, cacheWrite);
  const isIncluded = rule.inputHasCache && compare(cached, input) <= 0;
  const hasReasoning = rule.outputHasReasoning && compare(reasoning, output) <= 0;
  return withinWhole({
    ...counts,
    input: isIncluded ? subtract(input, cached) : input,
    cacheWrite,
    output: hasReasoning ? output : add(output, reasoning),
  });
}

/** The counts above 0. Limits parts to their whole: audio tokens that were read from the cache are not part of fresh input. */
function withinWhole(counts: Counts): Tokens {
  const left: Counts = { ...counts };
  const tokens: Tokens = {};
  for (const kind of tokenKinds) {
    const reported = counts[kind];
    if (!reported) continue;
    const partOf = wholeOf(kind);
    const count = partOf ? smaller(reported, left[partOf] ?? zero) : reported;
    if (partOf) left[partOf] = subtract(left[partOf] ?? zero, count);
    if (compare(count, zero) > 0) tokens[kind] = count;
  }
  return tokens;
}

/** Counts that do not overlap. @param isApart whether a part is counted apart from its whole; otherwise only the whole is returned */
export function apart(tokens: Tokens, isApart: (kind: TokenKind) => boolean): Tokens {
  const alone: Tokens = { ...tokens };
  for (const kind of tokenKinds) {
    const part = tokens[kind];
    const partOf = part && wholeOf(kind);
    if (!partOf) continue;
    if (isApart(kind)) alone[partOf] = subtract(alone[partOf] ?? zero, part);
    else delete alone[kind];
  }
  return alone;
}

/** The kind that a kind is part of. */
function wholeOf(kind: TokenKind): TokenKind | undefined {
  const relations = counted[kind];
  return "partOf" in relations ? relations.partOf : undefined;
}

const larger = (a: Decimal, b: Decimal) => (compare(a, b) > 0 ? a : b);
const smaller = (a: Decimal, b: Decimal) => (compare(a, b) < 0 ? a : b);

/** All input tokens of a call. */
export function allInput({ input = zero, cacheRead = zero, cacheWrite = zero }: Tokens): Decimal {
  return add(input, add(cacheRead, cacheWrite));
}
