import { parseAmount } from "@/components/figures/parse-amount";
import { ExactNumber } from "@/lib/contract/values/exact-number";

/** When a budget raises an alert: shares of its limit in per cent, and amounts in USD, as exact digits. */
export type ParsedThresholds = { percent: string[]; usd: string[] };

/**
 * Parses typed thresholds: `50%, 80 %, $1,250`.
 * @returns empty lists for an empty text; undefined if a part is neither a share nor an amount above 0
 */
export function parseThresholds(typed: string): ParsedThresholds | undefined {
  const thresholds: ParsedThresholds = { percent: [], usd: [] };
  // A comma after a digit and before exactly three digits separates thousands, not thresholds.
  for (const part of typed.split(/[;\n]|(?<!\d),|,(?!\d{3}(?:\D|$))/)) {
    const text = part.trim();
    if (text === "") continue;
    const isShare = text.endsWith("%");
    if (!isShare && !text.startsWith("$")) return undefined;
    const digits = parseAmount(isShare ? text.slice(0, -1) : text);
    if (!digits || Number(digits) === 0) return undefined;
    thresholds[isShare ? "percent" : "usd"].push(digits);
  }
  return thresholds;
}

/** Converts typed thresholds to the form of a request. @param typed text that `parseThresholds` accepts */
export function toAlertAt(typed: string) {
  const { percent = [], usd = [] } = parseThresholds(typed) ?? {};
  const exact = (digits: string) => new ExactNumber(digits);
  return { percent: percent.map(exact), usd: usd.map(exact) };
}

/** Writes thresholds in the form that `parseThresholds` reads. */
export function formatThresholds({ percent, usd }: ParsedThresholds): string {
  return [...percent.map((value) => `${value}%`), ...usd.map((value) => `$${value}`)].join(", ");
}
