import { ConvertedNumber, ExactNumber } from "@/lib/contract/values/exact-number";
import { sumExact } from "./exact";

/** An amount in USD and the same amount in the reader's currency, each day converted at its rate; both as exact text. */
export type ConvertedAmount = { usd: string; converted: string };

/** A decimal in any of its forms: exact text, the number or ExactNumber of an API answer, or with its conversion. */
export type Amount = string | number | ExactNumber | ConvertedAmount;

function isConverted(amount: Amount): amount is ConvertedAmount {
  return typeof amount === "object" && !(amount instanceof ExactNumber);
}

/** An amount in the reader's currency; undefined if it was not converted day by day. */
export function convertedText(amount: Amount): string | undefined {
  return amount instanceof ConvertedNumber || isConverted(amount) ? amount.converted : undefined;
}

/** An amount as a prop from a server component to a client component. */
export type AmountProp = string | ConvertedAmount;

/** An amount as a prop, with its conversion if there is one. */
export function asProp(amount: Amount): AmountProp {
  const converted = convertedText(amount);
  return converted === undefined ? exactText(amount) : { usd: exactText(amount), converted };
}

/**
 * A decimal's exact digits, without an exponent. Props that go from a server component to a client component carry
 * amounts in this form, because an ExactNumber cannot be serialized.
 */
export function exactText(amount: Amount): string {
  if (isConverted(amount)) return amount.usd;
  const text = amount instanceof ExactNumber ? amount.text : String(amount);
  const match = /^(-?)(\d+)(?:\.(\d+))?e([+-]?\d+)$/i.exec(text);
  if (!match) return text;
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = match;
  const point = whole.length + Number(exponent);
  const digits = `${"0".repeat(Math.max(0, 1 - point))}${whole}${fraction}`.padEnd(point, "0");
  const cut = Math.max(point, 1);
  return sign + digits.slice(0, cut) + (digits.length > cut ? `.${digits.slice(cut)}` : "");
}

/** The exact sum of amounts, with its conversion if all amounts that are not zero have one. */
export function sumAmounts(all: readonly Amount[]): AmountProp {
  const amounts = all.filter((amount) => toNumber(amount) !== 0);
  const usd = sumExact(amounts.map(exactText));
  const converted = amounts.flatMap((amount) => convertedText(amount) ?? []);
  const isConverted = converted.length === amounts.length && converted.length > 0;
  return isConverted ? { usd, converted: sumExact(converted.map(exactText)) } : usd;
}

/** A decimal as a double: for drawing, sorting and comparing, never for showing an amount. */
export function toNumber(amount: Amount): number {
  return Number(exactText(amount));
}
