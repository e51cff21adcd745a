import type { ModelPrice } from "@pydantic/genai-prices";
import {
  compare,
  type Decimal,
  divideMoney,
  multiply,
  parseDecimal,
  shiftDecimal,
  toText,
  zero,
} from "@/lib/decimal";
import { type CatalogueModel, matchModel } from "./catalogue-match";
import {
  type Price,
  type PricedLine,
  priceLine,
  type Rate,
  type UnpricedReason,
  type UsageLine,
} from "./price-line";
import type { PriceTable, ServiceTier } from "./price-table";
import { findUnit, type Unit } from "./units";

/**
 * A usage line to price.
 * - `provider`, `model`: as the client spells them.
 * - `occurredAt`: the time whose prices apply.
 * - `inputQuantity`: all input tokens of the line's request, if the caller knows them; see `catalogueRate`.
 * - `serviceTier`: how the provider served the request; `standard` by default.
 */
export type CatalogueLine = UsageLine & {
  provider: string;
  model?: string | null | undefined;
  occurredAt: Date;
  inputQuantity?: Decimal | undefined;
  serviceTier?: ServiceTier | undefined;
};

/**
 * Prices one line from the catalogue, in exact decimals. A line without a price in the catalogue is *unpriced*, with the
 * reason; an amount of 0 results only from a rate of 0. Never throws.
 */
export function priceFromCatalogue(line: CatalogueLine): PricedLine {
  return priceLine(line, (unitType) => catalogueRate(line, unitType));
}

/**
 * The catalogue's rate for one unit of a line, or the reason why there is none.
 *
 * Tiers: some models have a higher price for a whole *request* with more than a certain number of input tokens. The quantity of a line
 * does not show that, because it may be the sum of many requests. So only `inputQuantity`, the count of the request itself, selects a
 * tier above the base (docs/decisions/0019-leave-usage-unpriced-rather-than-guess.md).
 *
 * The first catalogue, with our corrections, has precedence. The second one has the prices that the first lacks, and those of service
 * tiers other than `standard`.
 */
export function catalogueRate(line: CatalogueLine, unitType: string): Rate | UnpricedReason {
  const model = matchModel(line.provider, line.model ?? "");
  if (model === "unknown_provider") return model;
  const unit = findUnit(unitType);
  if (!unit) return "unknown_unit";
  if (model === "unknown_model") return model;
  // Searches and pages cost the same in every tier.
  const service = unit.priceKey.endsWith("_mtok") ? (line.serviceTier ?? "standard") : "standard";
  const scale = scaleAt(model, unit, line.occurredAt, service);
  if (!scale) return "no_rate";
  if (scale.tiers.length === 0) return scale.base;
  const input = line.inputQuantity ?? zero;
  return scale.tiers.find(({ start }) => compare(input, start) > 0)?.rate ?? scale.base;
}

/** Providers whose service tiers differ only in their limits, not in their prices (console.groq.com/docs/service-tiers). */
const withFlatTiers = new Set(["groq"]);

function scaleAt(model: CatalogueModel, unit: Unit, instant: Date, tier: ServiceTier): Scale | null {
  if (Number.isNaN(instant.getTime())) return null;
  const own = model.tablesAt(instant);
  const isFlat = [...own, model.second].some((table) => table && withFlatTiers.has(table.provider));
  const service = isFlat ? "standard" : tier;
  const tables = service === "standard" ? own : [];
  for (const table of tables) {
    const scale = scaleOf(table, unit, service);
    if (scale) return scale;
  }
  return model.second ? scaleOf(model.second, unit, service) : null;
}

/** The rates of one unit: the base, and the tiers above it, highest first. */
export type Scale = { base: Rate; tiers: { start: Decimal; rate: Rate }[] };

/** The scales that were computed, by price table, service tier and unit. */
const scales = new WeakMap<PriceTable, Map<string, Scale | null>>();

function scaleOf(table: PriceTable, unit: Unit, service: ServiceTier): Scale | null {
  const known = scales.get(table) ?? new Map<string, Scale | null>();
  if (known.size === 0) scales.set(table, known);
  const key = service === "standard" ? unit.unit : `${service} ${unit.unit}`;
  const remembered = known.get(key);
  if (remembered !== undefined) return remembered;
  const scale = toScale(table, unit, service);
  known.set(key, scale);
  return scale;
}

/** The scale of a unit in a price table, or of its fallback unit; null if the table has neither. */
export function toScale(table: PriceTable, unit: Unit, service: ServiceTier = "standard"): Scale | null {
  const prices = service === "standard" ? table.prices : (table.services?.[service] ?? {});
  const listed = Object.hasOwn(prices, unit.priceKey) ? prices[unit.priceKey] : undefined;
  const entry = listed ?? (unit.twiceInputOf?.test(table.model) ? doubled(prices.input_mtok) : undefined);
  if (entry === undefined || entry === null) {
    const fallback = unit.fallback === undefined ? undefined : findUnit(unit.fallback);
    return fallback ? toScale(table, fallback, service) : null;
  }
  const rateOf = (listed: number, start?: number) =>
    toRate(table, unit, listed, {
      ...(service !== "standard" && { service }),
      ...(start !== undefined && { aboveInputTokens: start }),
    });
  if (typeof entry === "number") return { base: rateOf(entry), tiers: [] };
  const tiers = entry.tiers.map(({ start, price }) => ({
    start: parseDecimal(start),
    rate: rateOf(price, start),
  }));
  return { base: rateOf(entry.base), tiers: tiers.sort((a, b) => compare(b.start, a.start)) };
}

/** Twice a listed price: exact, because doubling a float only changes its exponent. */
function doubled(listed: ModelPrice["input_mtok"]): ModelPrice["input_mtok"] {
  if (typeof listed !== "object") return listed === undefined ? undefined : 2 * listed;
  return {
    base: 2 * listed.base,
    tiers: listed.tiers.map(({ start, price }) => ({ start, price: 2 * price })),
  };
}

function toRate(table: PriceTable, unit: Unit, listed: number, tier: Price["tier"] & object): Rate {
  // A price per 1e6 becomes a price per unit. A price per hour is not divided, because the result would not be exact.
  const places = Math.log10(unit.per);
  const isPowerOfTen = Number.isInteger(places);
  const perUnit = isPowerOfTen ? shiftDecimal(parseDecimal(listed), -places) : parseDecimal(listed);
  const price: Price = {
    rate: toText(perUnit),
    per: isPowerOfTen ? 1 : unit.per,
    unit: unit.unit,
    source: "catalogue",
    version: table.version,
    provider: table.provider,
    model: table.model,
    ...(Object.keys(tier).length > 0 && { tier }),
  };
  return { price, perUnit, ...minimumOf(table, unit, parseDecimal(listed)) };
}

const groqMinimumSeconds = parseDecimal(10);
const secondsPerHour = parseDecimal(3600);

/**
 * Groq bills at least ten seconds per transcription (groq.com/pricing). The catalogue's own calculator applies this rule,
 * but its data does not contain it.
 */
function minimumOf(table: PriceTable, unit: Unit, perHour: Decimal): { minimum?: Decimal } {
  const applies =
    table.provider === "groq" &&
    table.model.startsWith("whisper-") &&
    /^(input_)?audio_hours$/.test(unit.priceKey);
  return applies ? { minimum: divideMoney(multiply(perHour, groqMinimumSeconds), secondsPerHour) } : {};
}
