import { add, compare, type Decimal, multiply, parseDecimal, subtract, sum, zero } from "@/lib/decimal";
import { catalogueRate } from "@/lib/ledger/pricing/catalogue";
import { findUnit } from "@/lib/ledger/pricing/units";
import type { CacheableSubject, UncachedCalls } from "./caching-queries";
import { type FoundChange, groupBySubject, joinEqual, savingOf, subjectKey } from "./find";
import { steadyRate } from "./reprice";
import type { UsageGroup, UsageSubject } from "./usage-queries";

/**
 * How the beginning of prompts would be cached: written at a price of its own and kept for 5 minutes or an hour, or `automatic`, by a
 * provider that charges nothing for writes.
 */
type CacheTarget = "5m" | "1h" | "automatic";

/**
 * The fewest input tokens of a prompt that a provider caches; in doubt the larger one.
 * (platform.claude.com/docs/en/build-with-claude/prompt-caching, ai.google.dev/gemini-api/docs/caching,
 * developers.openai.com/api/docs/guides/prompt-caching)
 */
export function leastCacheablePrompt(model: string): number {
  if (/haiku-4|opus-4[-.][5-7]/.test(model)) return 4096;
  if (/haiku|sonnet-4[-.]6|gemini-2\.5/.test(model)) return 2048;
  return /gemini/.test(model) ? 4096 : 1024;
}

/** OpenAI reads from its cache in steps of this many tokens (developers.openai.com/api/docs/guides/prompt-caching). */
const stepTokens = 128;

/** Usage of which this share of the input was read from a cache is cached already. */
const cachedShare = parseDecimal("0.1");

const readUnit = "cache_read_tokens";
const writeUnits = { "5m": "cache_write_5m_tokens", "1h": "cache_write_1h_tokens" } as const;

/** The subjects that have long requests, little of whose input is cached, and whose model has a price for reads from the cache. */
export function findCacheable(groups: readonly UsageGroup[], at: Date): CacheableSubject[] {
  return groupBySubject(groups).flatMap((own) => {
    const [first] = own;
    if (!first || !hasRate(first, readUnit, at)) return [];
    const { project_id, provider, model, feature } = first;
    const least = leastCacheablePrompt(model);
    const isLong = own.some(({ most_input: most }) => most !== null && Number(most) >= least);
    const input = own.filter((group) => findUnit(group.unit_type)?.countsAsInput);
    const cached = input.map((group) =>
      parseDecimal(findUnit(group.unit_type)?.unit === readUnit ? group.quantity : group.cached),
    );
    const all = sum(input.map(({ quantity }) => parseDecimal(quantity)));
    if (!isLong || compare(sum(cached), multiply(all, cachedShare)) >= 0) return [];
    return [{ project_id, provider, model, feature, least_prompt: least }];
  });
}

/**
 * Finds the subjects of which reading the beginning of prompts from a cache would have saved at least an amount. What repeats is not
 * recorded; all calls can have no more in common than the smallest input of any of them, and that is what is priced. In each span for
 * which a cache is kept, the first call writes it.
 * @param groups of whole subjects. @param calls of subjects that `findCacheable` named. @param at the time whose prices apply
 */
export function findCaching(
  groups: readonly UsageGroup[],
  calls: readonly UncachedCalls[],
  least: Decimal,
  at: Date,
): FoundChange[] {
  return groupBySubject(groups).flatMap((own) => {
    const [first] = own;
    if (!first) return [];
    const ofSubject = calls.filter(
      (each) => subjectKey(each) === subjectKey(first) && findUnit(each.unit_type)?.unit === "input_tokens",
    );
    const chargesWrites = Object.values(writeUnits).some((unit) => hasRate(first, unit, at));
    const targets: CacheTarget[] = chargesWrites ? ["5m", "1h"] : ["automatic"];
    const [best] = targets
      .flatMap((target) => measureCaching(target, own, ofSubject, at) ?? [])
      .filter((found) => compare(savingOf(found), least) >= 0)
      .sort((a, b) => compare(savingOf(b), savingOf(a)));
    return best ?? [];
  });
}

/** Whether the catalogue has a price for a unit of a model in the standard tier. */
function hasRate({ provider, model }: UsageSubject, unitType: string, at: Date): boolean {
  const line = { provider, model, unitType, quantity: zero, occurredAt: at };
  return typeof catalogueRate(line, unitType) === "object";
}

function measureCaching(
  target: CacheTarget,
  own: readonly UsageGroup[],
  calls: readonly UncachedCalls[],
  at: Date,
): FoundChange | undefined {
  const [first] = own;
  const priced = calls.flatMap((group) => {
    const rates = cacheRates(group, target, at);
    const writes = Number(target === "1h" ? group.windows_1h : group.windows_5m);
    return rates ? [{ ...rates, least: Number(group.least_input), calls: Number(group.calls), writes }] : [];
  });
  if (!first || priced.length === 0) return undefined;
  const smallest = Math.min(...priced.map((group) => group.least));
  const tokens = smallest - (smallest % stepTokens);
  const saved = priced.map((group) => {
    const ofCalls = (count: number, from: Decimal, to: Decimal) =>
      multiply(multiply(parseDecimal(count), parseDecimal(tokens)), subtract(from, to));
    const read = ofCalls(group.calls - group.writes, group.input, group.read);
    return add(read, ofCalls(group.writes, group.input, group.write));
  });
  const recorded = sum(own.map(({ amount_usd }) => parseDecimal(amount_usd)));
  const { project_id, provider, model, feature } = first;
  const total = (values: number[]) => values.reduce((a, b) => a + b, 0);
  return {
    ...{ project_id, provider, model, feature, kind: "prompt_caching", tier: null, target },
    shown_provider: own.map((group) => group.shown_provider).sort()[0] ?? provider,
    recorded,
    repriced: subtract(recorded, sum(saved)),
    records: total(own.map(({ records }) => Number(records))),
    counts: {
      tokens,
      calls: total(priced.map((group) => group.calls)),
      writes: total(priced.map((group) => group.writes)),
    },
  };
}

/** The present rates for one token of input, read and written, if calls were recorded at that of input. */
function cacheRates(
  calls: UncachedCalls,
  target: CacheTarget,
  at: Date,
): { input: Decimal; read: Decimal; write: Decimal } | undefined {
  const input = steadyRate(calls, calls.unit_type, at);
  const read = steadyRate(calls, readUnit, at);
  const write = target === "automatic" ? input : steadyRate(calls, writeUnits[target], at);
  if (!input || !read || !write || input.price.rate !== calls.rate) return undefined;
  return { input: input.perUnit, read: read.perUnit, write: write.perUnit };
}

/** Joins the calls of several days. A span that is part of two days counts twice. */
export const mergeCalls = (calls: readonly UncachedCalls[]): UncachedCalls[] =>
  joinEqual(calls, keyOfCalls, joinCalls);

/** What calls that differ only in sums have in common. */
function keyOfCalls(each: UncachedCalls): object {
  const { least_input: _, most_input: __, calls: ___, windows_5m, windows_1h, ...key } = each;
  return key;
}

function joinCalls(one: UncachedCalls, other: UncachedCalls): UncachedCalls {
  const total = (a: string, b: string) => String(BigInt(a) + BigInt(b));
  return {
    ...one,
    least_input: Number(one.least_input) < Number(other.least_input) ? one.least_input : other.least_input,
    most_input: Number(one.most_input) > Number(other.most_input) ? one.most_input : other.most_input,
    calls: total(one.calls, other.calls),
    windows_5m: total(one.windows_5m, other.windows_5m),
    windows_1h: total(one.windows_1h, other.windows_1h),
  };
}
