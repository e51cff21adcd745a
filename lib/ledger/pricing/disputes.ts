import { compare, type Decimal, multiply, parseDecimal, subtract } from "@/lib/decimal";
import { toScale } from "./catalogue";
import { matchModel } from "./catalogue-match";
import type { PriceTable } from "./price-table";
import { secondCatalogueDate } from "./second-catalogue/second-catalogue";
import { allUnits, type Unit } from "./units";

/** A catalogue's price for one unit of a model. `rate`: USD as exact text. `source`: the catalogue with its version. */
export type Offer = { source: string; model: string; rate: string };

/** A price about which two catalogues disagree on the same day. `applied` is the one that usage is priced by. */
export type Dispute = { unitType: string; applied: Offer; other: Offer };

/** Prices agree if they differ by less than this share of the lower one. Clouds charge exactly this much more for a region. */
const tolerance = parseDecimal("0.1");

const units = allUnits().filter(({ priceKey }) => priceKey.endsWith("_mtok"));
const hourMs = 3_600_000;

/**
 * Finds the prices of a model on which the two catalogues disagree by 10% or more, among the kinds of tokens that both list. Compares the
 * base prices of the standard service tier on the day of the second catalogue; if the first one has prices by the hour, those of the
 * hour that agrees best.
 * @param provider as the client spells it
 * @param model as the client spells it
 */
export function findDisputes(provider: string, model: string): Dispute[] {
  const match = matchModel(provider, model);
  if (typeof match === "string" || !match.second) return [];
  const { second } = match;
  const midnight = Date.parse(secondCatalogueDate);
  const instants = Array.from({ length: 24 }, (_, hour) => new Date(midnight + hour * hourMs));
  const hours = new Set(instants.map((instant) => match.tablesAt(instant)[0]));
  return units.flatMap((unit) => {
    const other = offerOf(second, unit);
    if (!other) return [];
    const applied = [...hours].flatMap((table) => (table && offerOf(table, unit)) ?? []);
    const [best] = applied.sort((a, b) => compare(distance(a, other), distance(b, other)));
    return best && disagree(best, other) ? [{ unitType: unit.unit, applied: best, other }] : [];
  });
}

/** A table's own price for a unit, without falling back to a broader unit. */
function offerOf(table: PriceTable, unit: Unit): Offer | undefined {
  if (!Object.hasOwn(table.prices, unit.priceKey)) return undefined;
  const price = toScale(table, unit)?.base.price;
  return price && { source: table.version, model: table.model, rate: price.rate };
}

function distance(a: Offer, b: Offer): Decimal {
  const [low, high] = inOrder(a, b);
  return subtract(high, low);
}

function disagree(a: Offer, b: Offer): boolean {
  const [low, high] = inOrder(a, b);
  return compare(subtract(high, low), multiply(low, tolerance)) >= 0;
}

function inOrder(a: Offer, b: Offer): [low: Decimal, high: Decimal] {
  const rates: [Decimal, Decimal] = [parseDecimal(a.rate), parseDecimal(b.rate)];
  return compare(...rates) > 0 ? [rates[1], rates[0]] : rates;
}
