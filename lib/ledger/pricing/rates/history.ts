import { brotliDecompressSync } from "node:zlib";
import { divideMoney, parseDecimal, toText } from "@/lib/decimal";
// With the attribute, because Node loads it itself in browser tests.
import history from "./history.json" with { type: "json" };
import type { RateSeries, RateTable } from "./rate-table";

/** The rates of a source, written by `scripts/build-rates.mjs`. `base`: the rates are units of a currency for one of this currency. */
type PackedSource = { source: string; base: string; from: string; to: string; packed: string };

/** The sources of rates in order of preference, with the first and last day (`from`, `to`) that ship with the service. */
export const shippedSources: readonly Omit<PackedSource, "packed">[] = history;

/** The published rates of a currency. `places`: the indexes of the days with a rate. `values`: these rates times 10^`decimals`. */
type Published = { decimals: number; places: number[]; values: number[] };
type Unpacked = { days: string[]; currencies: Map<string, Published> };

const dayMs = 86_400_000;

/** Decodes the format of `pack` in `scripts/build-rates.mjs`, which describes it. */
function unpack(packed: string): Unpacked {
  const bytes = brotliDecompressSync(Buffer.from(packed, "base64"));
  let at = 0;
  const take = () => {
    let [number, factor] = [0, 1];
    for (; ; factor *= 128) {
      const byte = bytes[at++] ?? 0;
      number += (byte % 128) * factor;
      if (byte < 128) return number;
    }
  };
  let day = 0;
  const days = Array.from({ length: take() }, () => {
    day += take();
    return new Date(day * dayMs).toISOString().slice(0, 10);
  });
  const currencies = new Map<string, Published>();
  for (let left = take(); left > 0; left -= 1) {
    const code = bytes.toString("latin1", at, at + 3);
    at += 3;
    const published: Published = { decimals: take(), places: [], values: [] };
    let value = 0;
    for (const place of days.keys()) {
      const step = take();
      if (step === 0) continue;
      value += step % 2 === 1 ? (step - 1) / 2 : -step / 2;
      published.places.push(place);
      published.values.push(value);
    }
    currencies.set(code, published);
  }
  return { days, currencies };
}

const textOf = (value: number, decimals: number) => `${value}e-${decimals}`;

/**
 * The series of a currency in USD. The rate of the base itself is the published one; that of another currency is a quotient of two
 * published rates, rounded once, half-even, to 18 decimals.
 */
function seriesIn(
  { days, currencies }: Unpacked,
  { source, base }: Omit<PackedSource, "packed">,
  currency: string,
): RateSeries[] {
  const dollars = base === "USD" ? undefined : currencies.get("USD");
  const published = currency === base ? dollars : currencies.get(currency);
  if (!published || currency === "USD") return [];
  const placeOfDollars = new Map(dollars?.places.map((place, index) => [place, index]));
  const own = published.places.map((place) => days[place] as string);
  const computed: (string | undefined)[] = [];
  const compute = (index: number) => {
    const units = parseDecimal(textOf(published.values[index] ?? 0, published.decimals));
    if (currency === base) return toText(units);
    const dollar = dollars?.values[placeOfDollars.get(published.places[index] ?? -1) ?? -1];
    const usd = dollars ? textOf(dollar ?? 0, dollars.decimals) : "1";
    return toText(divideMoney(parseDecimal(usd), units));
  };
  return [
    {
      source,
      days: own,
      rateAt: (index) => {
        computed[index] ??= compute(index);
        return computed[index];
      },
    },
  ];
}

/**
 * The published rates of a source: currency → day → units for one of its base, as exact text.
 * @param of the index of a shipped source, or another source as the script packs it
 */
export function unpackSource(of: number | Pick<PackedSource, "packed">): Map<string, Map<string, string>> {
  const { packed } = typeof of === "number" ? (history[of] as PackedSource) : of;
  const { days, currencies } = unpack(packed);
  return new Map(
    [...currencies].map(([code, { decimals, places, values }]) => [
      code,
      new Map(
        places.map((place, index) => [
          days[place] ?? "",
          toText(parseDecimal(textOf(values[index] ?? 0, decimals))),
        ]),
      ),
    ]),
  );
}

let unpacked: Unpacked[] | undefined;
const known = new Map<string, RateSeries[][]>();

/** The rates that ship with the service. They are unpacked at first use. */
export const shippedRates: RateTable = {
  seriesOf(currency) {
    const found = known.get(currency);
    if (found) return found;
    unpacked ??= (history as PackedSource[]).map(({ packed }) => unpack(packed));
    const series = unpacked.map((each, index) => seriesIn(each, history[index] as PackedSource, currency));
    known.set(currency, series);
    return series;
  },
};
