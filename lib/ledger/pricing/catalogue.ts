import { matchModel, type PriceTable } from "./catalogue-match";
import {
  compare,
  type Decimal,
  divideMoney,
  multiply,
  parseDecimal,
  shiftDecimal,
  toText,
  zero,
} from "./decimal";
import {
  type Line,
  type Price,
  type PricedLine,
  priceLine,
  type Rate,
  type UnpricedReason,
} from "./price-line";
import { findUnit, type Unit } from "./units";

/** The price data of this build, stored with every amount that it priced. A test compares it with the installed package. */
export const catalogueVersion = "genai-prices 0.1.8";

/**
 * A usage line to price.
 * - `provider`, `model`: as the client spells them.
 * - `occurredAt`: the time whose prices apply.
 * - `inputQuantity`: all input tokens of the line's request, if the caller knows them; see `catalogueRate`.
 */
export type CatalogueLine = Line & {
  provider: string;
  model?: string | null | undefined;
  occurredAt: Date;
  inputQuantity?: Decimal;
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
 * Tiers: some models have a higher price for a whole *request* with more than a certain number of input tokens. A line
 * does not show that: its quantity may be that of one request or of a day. So only `inputQuantity`, the request's own
 * count, selects a tier above the base (docs/decisions/0026-choose-the-price-tier-by-request.md).
 */
export function catalogueRate(line: CatalogueLine, unitType: string): Rate | UnpricedReason {
  const model = matchModel(line.provider, line.model ?? "");
  if (model === "unknown_provider") return model;
  const unit = findUnit(unitType);
  if (!unit) return "unknown_unit";
  if (model === "unknown_model") return model;
  const table = model.pricesAt(line.occurredAt);
  const scale = table && scaleOf(table, unit);
  if (!scale) return "no_rate";
  if (scale.tiers.length === 0) return scale.base;
  const input = line.inputQuantity ?? zero;
  return scale.tiers.find(({ start }) => compare(input, start) > 0)?.rate ?? scale.base;
}

/** The rates of one unit: the base, and the tiers above it, highest first. */
type Scale = { base: Rate; tiers: { start: Decimal; rate: Rate }[] };

/** The scales that were computed, by price table and unit. */
const scales = new WeakMap<PriceTable, Map<string, Scale | null>>();

function scaleOf(table: PriceTable, unit: Unit): Scale | null {
  const known = scales.get(table) ?? new Map<string, Scale | null>();
  if (known.size === 0) scales.set(table, known);
  const remembered = known.get(unit.unit);
  if (remembered !== undefined) return remembered;
  const scale = toScale(table, unit);
  known.set(unit.unit, scale);
  return scale;
}

/** The scale of a unit in a price table, or of the unit as which it is billed; null where the table has neither. */
export function toScale(table: PriceTable, unit: Unit): Scale | null {
  const { prices } = table;
  const entry = Object.hasOwn(prices, unit.priceKey) ? prices[unit.priceKey] : undefined;
  if (entry === undefined || entry === null) {
    const fallback = unit.fallback === undefined ? undefined : findUnit(unit.fallback);
    return fallback ? toScale(table, fallback) : null;
  }
  if (typeof entry === "number") return { base: toRate(table, unit, entry), tiers: [] };
  const tiers = entry.tiers.map(({ start, price }) => ({
    start: parseDecimal(start),
    rate: toRate(table, unit, price, start),
  }));
  return { base: toRate(table, unit, entry.base), tiers: tiers.sort((a, b) => compare(b.start, a.start)) };
}

function toRate(table: PriceTable, unit: Unit, listed: number, tierStart?: number): Rate {
  // A price per 1e6 becomes a price per unit. A price per hour is not divided, because the result would not be exact.
  const places = Math.log10(unit.per);
  const isPowerOfTen = Number.isInteger(places);
  const perUnit = isPowerOfTen ? shiftDecimal(parseDecimal(listed), -places) : parseDecimal(listed);
  const price: Price = {
    rate: toText(perUnit),
    per: isPowerOfTen ? 1 : unit.per,
    unit: unit.unit,
    source: "catalogue",
    version: catalogueVersion,
    provider: table.provider,
    model: table.model,
    ...(tierStart === undefined ? {} : { tier: { aboveInputTokens: tierStart } }),
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
