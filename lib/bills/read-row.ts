import type { BillField } from "@/lib/contract/bills/bill-fields";
import { DecimalError, parseDecimal, shiftDecimal, toText } from "@/lib/decimal";
import { type DecimalMark, readNumber } from "@/lib/ledger/import/notation";
import { providerId } from "@/lib/ledger/pricing/names/providers";
import { unitName } from "@/lib/ledger/pricing/units";
import { addDays } from "@/lib/spend/period";
import { dollarsWritten, type MoneyUnit } from "./money";
import type { BilledRow } from "./statements";

/** What is wrong with a row, as the end of a sentence that begins with its line. */
export type RowProblem = { problem: string };

/** How numbers are written: plain digits with a point, with separators, or such that they can be read in two ways. */
type NumberMark = DecimalMark | "plain" | "ambiguous";

/** A number without the sign of its currency. */
const bare = (text: string) => text.replace(/\$|USD/gi, "").trim();

/** The notation of a file's numbers, by all of them together. */
export function chooseMark(texts: readonly string[]): NumberMark {
  const given = texts.map(bare).filter((text) => text !== "");
  const reads = (mark?: DecimalMark) => given.every((text) => readNumber(text, mark) !== undefined);
  if (reads()) return "plain";
  const [point, comma] = [reads("point"), reads("comma")];
  if (point && comma) return "ambiguous";
  return comma ? "comma" : "point";
}

/** Reads a row of a CSV file by its fields. */
export function readBilledRow(
  read: (field: BillField) => string | undefined,
  { unit: moneyUnit, mark }: { unit: MoneyUnit; mark: NumberMark },
): BilledRow | RowProblem {
  const days = readDays(read("day") ?? "");
  if ("problem" in days) return days;
  const currency = read("currency");
  if (currency !== undefined && currency.toUpperCase() !== "USD")
    return { problem: `the currency is ${currency}; bills are in USD. Convert the amounts first` };
  const numberOf = (field: BillField) => {
    const text = read(field);
    return text === undefined ? null : numberIn(text, mark);
  };
  try {
    const [amount, list, quantity] = [numberOf("amount"), numberOf("list_amount"), numberOf("quantity")];
    if (amount === null) return { problem: "the amount is empty" };
    const { unit, places } = billedUnit(read("unit"));
    return {
      ...days,
      ...readCoordinates(read),
      unit,
      amount: dollarsWritten(amount, moneyUnit),
      list: list === null ? null : dollarsWritten(list, moneyUnit),
      quantity: quantity === null ? null : shiftDecimal(parseDecimal(quantity), places),
    };
  } catch (error) {
    if (error instanceof DecimalError) return { problem: error.message };
    throw error;
  }
}

/** The digits of a number. @throws DecimalError */
function numberIn(text: string, mark: NumberMark): string {
  const shown = text.slice(0, 40);
  if (mark === "ambiguous")
    throw new DecimalError(
      `"${shown}" may have a decimal point or a decimal comma. Write numbers without thousands separators`,
    );
  const digits = readNumber(bare(text), mark === "plain" ? undefined : mark);
  if (digits === undefined) throw new DecimalError(`"${shown}" is not a number`);
  return toText(parseDecimal(digits));
}

/** The coordinates of a row besides its period and unit. */
export function readCoordinates(
  read: (field: "provider" | "account" | "line" | "model" | "tier" | "key" | "user") => string | undefined,
): Pick<BilledRow, "provider" | "account" | "line" | "model" | "tier" | "key" | "user"> {
  const clipped = (field: Parameters<typeof read>[0], most: number) =>
    read(field)?.replaceAll("\u0000", "").toWellFormed().slice(0, most).trim() || null;
  const tier = clipped("tier", 64)?.toLowerCase() ?? null;
  const user = clipped("user", 255);
  return {
    provider: providerKeyOf(clipped("provider", 64) ?? ""),
    account: clipped("account", 128) ?? "",
    line: clipped("line", 300),
    model: clipped("model", 200),
    tier: tier !== null && usualTiers.has(tier) ? null : tier,
    key: clipped("key", 200),
    user: user && personKeyOf(user),
  };
}

/**
 * One spelling for each person: an e-mail address in lower case, another name as it is. Letters beyond ASCII stay, because which of them are the
 * same is for the database to say, which an erasure asks (`private.is_person`).
 */
export const personKeyOf = (name: string): string =>
  name.includes("@") ? name.replace(/[A-Z]+/g, (letters) => letters.toLowerCase()) : name;

/** One spelling for each provider: its id in the catalogue's table of names, otherwise the name in lower case. */
export const providerKeyOf = (name: string): string => providerId(name) ?? name.trim().toLowerCase();

/** What providers call the tier that has no name here. */
const usualTiers = new Set(["standard", "default", "auto", "on_demand", "on-demand"]);

/** Names that providers' reports have for units, and the catalogue has not. */
const reported: Record<string, string> = {
  uncached_input_tokens: "input_tokens",
  input_uncached_tokens: "input_tokens",
  "cache_creation.ephemeral_5m_input_tokens": "cache_write_5m_tokens",
  "cache_creation.ephemeral_1h_input_tokens": "cache_write_1h_tokens",
  web_search: "web_searches",
  code_execution: "code_executions",
};

/** The unit of a quantity, by its name in the catalogue where it has one. `places`: in which power of ten it is counted. */
export function billedUnit(written: string | undefined): { unit: string | null; places: number } {
  if (written === undefined) return { unit: null, places: 0 };
  const name = written.trim().toLowerCase();
  const [, many, rest = name] = /^(1000|1k|1m|1000000)[ _-](.+)$/.exec(name) ?? [];
  const places = many === undefined ? 0 : many === "1000" || many === "1k" ? 3 : 6;
  return { unit: unitName(reported[rest] ?? rest).slice(0, 64), places };
}

/** The days of a row: a day, an instant, or a whole month. */
function readDays(written: string): { from: string; until: string } | RowProblem {
  const [, month] = /^(\d{4}-(?:0[1-9]|1[0-2]))$/.exec(written) ?? [];
  if (month !== undefined) return { from: `${month}-01`, until: firstDayAfter(month) };
  const day = /^\d{10}$/.test(written)
    ? new Date(Number(written) * 1000).toISOString().slice(0, 10)
    : dayIn(written);
  if (day !== undefined) return { from: day, until: addDays(day, 1) };
  return {
    problem: `"${written.slice(0, 40)}" is not a day, such as 2026-10-31, nor a month, such as 2026-10`,
  };
}

/** The first day after a month `YYYY-MM`. */
export const firstDayAfter = (month: string): string => {
  const [year = 0, number = 1] = month.split("-").map(Number);
  return new Date(Date.UTC(year, number, 1)).toISOString().slice(0, 10);
};

const writtenTime = /^(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d(?::\d\d(?:\.\d+)?)?) ?(Z|UTC|[+-]\d\d:\d\d)?)?$/i;

/** The UTC day of a date, or of an ISO 8601 time; one without an offset is UTC. Undefined for other text. */
export function dayIn(text: string): string | undefined {
  const [, day, time = "00:00", offset = "Z"] = writtenTime.exec(text) ?? [];
  if (day === undefined) return undefined;
  const zone = /^(z|utc)$/i.test(offset) ? "Z" : offset;
  const ms = Date.parse(`${day}T${time}${zone}`);
  if (Number.isNaN(ms)) return undefined;
  const found = new Date(ms).toISOString().slice(0, 10);
  return zone === "Z" && found !== day ? undefined : found;
}
