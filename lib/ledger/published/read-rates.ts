import { isCurrency } from "@/lib/currencies";
import {
  absolute,
  compare,
  type Decimal,
  divideMoney,
  multiply,
  parseDecimal,
  subtract,
  toText,
  zero,
} from "@/lib/decimal";
import { shippedSources } from "@/lib/ledger/pricing/rates/history";
import { findRate, type RateTable } from "@/lib/ledger/pricing/rates/rate-table";
import type { PublishedDay } from "./published-queries";

/** A downloaded file that is refused as a whole. The message says why. */
export class UnusableFile extends Error {
  override name = "UnusableFile";
}

/** The rates of a day in the form of the file: units of each currency for one of the base. */
type ReadDay = { day: string; base: string; units: Map<string, Decimal> };

const [bank, others] = shippedSources.map(({ source }) => source);

/** A rate or price that differs from the one before by more than this share waits for the operator. */
const maxJump = parseDecimal("0.2");

/** The fewest rates that a day of a usable file has. */
const fewestRates = 5;
const dayMs = 86_400_000;

/**
 * Reads a file of rates: the XML of the European Central Bank, for one or more days, or the JSON of `@fawazahmed0/currency-api`. The
 * format decides the source, whatever the address. Currencies outside of ISO 4217 are ignored.
 * @param now milliseconds since 1970; no day may be later than tomorrow
 * @throws UnusableFile
 */
export function readRates(text: string, now: number): { source: string; days: DayRates[] } {
  const isXml = text.trimStart().startsWith("<");
  const read = isXml ? readXml(text) : readJson(text);
  if (read.length === 0) throw new UnusableFile("It has no rates.");
  const days = read.map((day) => toDay(day, now)).sort((a, b) => (a.day < b.day ? -1 : 1));
  return { source: (isXml ? bank : others) ?? "", days };
}

/** Rates of a day in USD for one unit, as exact text. */
type DayRates = { day: string; rates: Record<string, string> };

function readXml(text: string): ReadDay[] {
  return text
    .split(/<Cube\s+time=/)
    .slice(1)
    .map((part) => ({
      day: /^["']([\d-]{10})["']/.exec(part)?.[1] ?? "",
      base: "EUR",
      units: new Map(
        [...part.matchAll(/<Cube\s+currency=["']([A-Z]{3})["']\s+rate=["']([^"'<>]{0,40})["']/g)].map(
          ([, code = "", value = ""]) => [code, toUnits(code, value)],
        ),
      ),
    }));
}

function readJson(text: string): ReadDay[] {
  let file: unknown;
  try {
    file = JSON.parse(text);
  } catch {
    throw new UnusableFile("It is neither XML nor JSON.");
  }
  const { date: day, ...rest } = (file ?? {}) as Record<string, unknown>;
  const [[base, rates] = []] = Object.entries(rest);
  if (typeof day !== "string" || base === undefined || typeof rates !== "object" || rates === null)
    throw new UnusableFile("It is not like {date, usd: {eur, …}}.");
  const units = new Map<string, Decimal>();
  for (const [name, value] of Object.entries(rates)) {
    const code = name.toUpperCase();
    if (isCurrency(code)) units.set(code, toUnits(code, value));
  }
  return [{ day, base: base.toUpperCase(), units }];
}

function toUnits(code: string, value: unknown): Decimal {
  const isNumber = typeof value === "number" || (typeof value === "string" && /^\d+(\.\d+)?$/.test(value));
  const units = isNumber && Number.isFinite(Number(value)) ? parseDecimal(value) : zero;
  if (compare(units, zero) <= 0)
    throw new UnusableFile(`${code} has the rate ${String(value).slice(0, 40)}.`);
  return units;
}

/** Converts rates to USD for one unit. A quotient of two published rates is rounded once, half-even, to 18 decimals. */
function toDay({ day, base, units }: ReadDay, now: number): DayRates {
  const at = Date.parse(day);
  if (!/^\d{4}-\d{2}-\d{2}$/.test(day) || Number.isNaN(at) || new Date(at).toISOString().slice(0, 10) !== day)
    throw new UnusableFile(`${JSON.stringify(day.slice(0, 40))} is not a day.`);
  if (at > now + dayMs) throw new UnusableFile(`${day} is in the future.`);
  if (!isCurrency(base)) throw new UnusableFile(`${JSON.stringify(base.slice(0, 40))} is not a currency.`);
  const usd = base === "USD" ? parseDecimal("1") : units.get("USD");
  if (!usd) throw new UnusableFile(`${day} has no rate of USD.`);
  const rates: Record<string, string> = base === "USD" ? {} : { [base]: toText(usd) };
  for (const [code, each] of units) {
    if (code === "USD" || code === base || !isCurrency(code)) continue;
    const rate = toText(divideMoney(usd, each));
    if (rate === "0") throw new UnusableFile(`${code} has the rate ${toText(each)}.`);
    rates[code] = rate;
  }
  if (Object.keys(rates).length < fewestRates) throw new UnusableFile(`${day} has too few rates.`);
  return { day, rates };
}

/**
 * The days to store: those after the last shipped one. Rates that differ by more than 20 % from the one before are put into `held`.
 * @param table the present rates
 */
export function holdJumps(
  { source, days }: { source: string; days: DayRates[] },
  table: RateTable,
): PublishedDay[] {
  const last = new Map<string, string>();
  const shippedTo = shippedSources.find((each) => each.source === source)?.to ?? "";
  return days
    .filter(({ day }) => day > shippedTo)
    .map(({ day, rates }) => {
      const content: Record<string, string> = {};
      const held: Record<string, string> = {};
      for (const [code, rate] of Object.entries(rates)) {
        const known = findRate(table, code, day);
        // Compare with the accepted rate of the same day if there is one, otherwise with the last one in this file or the book.
        const before = known?.date === day ? known.rate : (last.get(code) ?? known?.rate);
        if (before !== undefined && jumps(before, rate)) {
          held[code] = rate;
        } else {
          content[code] = rate;
          last.set(code, rate);
        }
      }
      return { day, content, held };
    });
}

/** Whether a price or a rate differs by more than 20 % from the one before. */
export function jumps(before: string | number, now: string | number): boolean {
  const [old, next] = [parseDecimal(before), parseDecimal(now)];
  return compare(absolute(subtract(next, old)), multiply(old, maxJump)) > 0;
}
