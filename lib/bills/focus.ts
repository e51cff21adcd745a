import type { BillField } from "@/lib/contract/bills/bill-fields";
import { type Decimal, DecimalError, isZero, parseDecimal } from "@/lib/decimal";
import { unitName } from "@/lib/ledger/pricing/units";
import { addDays } from "@/lib/spend/period";
import { dollars } from "./money";
import { dayIn, firstDayAfter, type RowProblem, readCoordinates } from "./read-row";
import type { BilledRow } from "./statements";

type Values = Readonly<Record<string, string>>;

/** Reads a row of a FOCUS file. A row of another service category than AI is left out. */
export function readFocusRow(
  values: Values,
  columns: Partial<Record<BillField, string>>,
): BilledRow | RowProblem | { leftOut: Decimal } {
  const read = (field: BillField) => {
    const text = values[columns[field] ?? ""]?.trim() ?? "";
    return text === "" || text.toLowerCase() === "null" ? undefined : text;
  };
  const currency = read("currency");
  if (currency?.toUpperCase() !== "USD")
    return {
      problem: `BillingCurrency is ${currency ?? "empty"}; bills are in USD. Export the bill in USD`,
    };
  if (read("provider") === undefined) return { problem: "ProviderName is empty" };
  try {
    const amount = dollars(read("amount") ?? "");
    const category = values.ServiceCategory?.trim().toLowerCase() || aiCategory;
    if (category !== aiCategory) return { leftOut: amount };
    // After it, because purchases of other services may be of several months.
    const days = daysOfCharge(values, "ChargePeriodStart", "ChargePeriodEnd");
    if ("problem" in days) return days;
    const list = dollars(read("list_amount") ?? "0");
    const [quantity, unit] = [read("quantity"), read("unit")];
    return {
      ...days,
      ...readCoordinates(read),
      unit: unit === undefined ? null : unitName(unit).slice(0, 64),
      amount,
      // Providers write 0 where they do not know it.
      list: isZero(list) ? null : list,
      quantity: quantity === undefined ? null : parseDecimal(quantity),
    };
  } catch (error) {
    if (error instanceof DecimalError) return { problem: error.message };
    throw error;
  }
}

const aiCategory = "ai and machine learning";
const midnight = /^\d{4}-\d\d-\d\d(?:[ T]00:00(?::00(?:\.0+)?)? ?(?:Z|UTC|[+-]00:00)?)?$/i;

/** The days of a charge, by the columns of its start and its end. One that ends within a day is of that day. */
export function daysOfCharge(
  values: Values,
  startColumn: string,
  endColumn: string,
): { from: string; until: string } | RowProblem {
  const [start = "", end = ""] = [values[startColumn]?.trim(), values[endColumn]?.trim()];
  const [from, last] = [dayIn(start), dayIn(end)];
  if (from === undefined || last === undefined) {
    const shown = `${startColumn} "${start.slice(0, 40)}" or ${endColumn} "${end.slice(0, 40)}"`;
    return { problem: `${shown} is not a time such as 2026-10-31T00:00:00Z` };
  }
  const until = midnight.test(end) && last > from ? last : addDays(last, 1);
  if (until <= from) return { problem: `${endColumn} is before ${startColumn}` };
  if (until <= firstDayAfter(from.slice(0, 7))) return { from, until };
  return {
    problem: "the charge period spans two months, and could be compared with neither. Export charges by day",
  };
}
