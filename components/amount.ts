import { ExactNumber } from "@/lib/contract/exact-number";

/** A decimal as services (text), answers (ExactNumber or number) and the browser have it. */
export type Amount = string | number | ExactNumber;

/** A decimal's exact digits, without an exponent. Also the way from a service's answer into a client component's props. */
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
