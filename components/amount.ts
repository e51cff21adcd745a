import { ExactNumber } from "@/lib/contract/exact-number";

/** A decimal in any of its forms: exact text, or the number or ExactNumber of an API answer. */
export type Amount = string | number | ExactNumber;

/**
 * A decimal's exact digits, without an exponent. Props that go from a server component to a client component carry
 * amounts in this form, because an ExactNumber cannot be serialized.
 */
export function exactText(amount: Amount): string {
  const text = amount instanceof ExactNumber ? amount.text : String(amount);
  const match = /^(-?)(\d+)(?:\.(\d+))?e([+-]?\d+)$/i.exec(text);
  if (!match) return text;
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = match;
  const point = whole.length + Number(exponent);
  const digits = `${"0".repeat(Math.max(0, 1 - point))}${whole}${fraction}`.padEnd(point, "0");
  const cut = Math.max(point, 1);
  return sign + digits.slice(0, cut) + (digits.length > cut ? `.${digits.slice(cut)}` : "");
}

/** A decimal as a double: for drawing, sorting and comparing, never for showing an amount. */
export function toNumber(amount: Amount): number {
  return Number(exactText(amount));
}
