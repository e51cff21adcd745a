/*
 * What the mock of the providers bills, by a price list of its own: the providers' pages of November 2026, not the catalogue under
 * test. In billionths of a USD a token, which all of them are whole.
 */
const prices = {
  "gpt-4o-mini": { input: 150, cacheRead: 75, output: 600 },
  "gpt-5": { input: 1250, cacheRead: 125, output: 10_000 },
  "text-embedding-3-small": { input: 20, cacheRead: 0, output: 0 },
  "claude-sonnet-4-5": {
    input: 3000,
    cacheRead: 300,
    cacheWrite5m: 3750,
    cacheWrite1h: 6000,
    output: 15_000,
  },
  "gemini-2.5-flash": { input: 300, cacheRead: 30, output: 2500 },
};

/** The cost of a call in attoUSD (10⁻¹⁸), exact; undefined for a model that the list does not have. */
export function billedUsd({ model, ...counts }) {
  const price = prices[model];
  if (!price) return undefined;
  const nano = Object.entries(price).reduce(
    (sum, [kind, rate]) => sum + BigInt(rate) * BigInt(counts[kind] ?? 0),
    0n,
  );
  return nano * 10n ** 9n;
}

/** `0.0125` → attoUSD. */
export function parseUsd(text) {
  const [whole, part = ""] = text.split(".");
  return BigInt(whole + part.slice(0, 18).padEnd(18, "0"));
}

/** attoUSD as decimal text. */
export function showUsd(atto) {
  const digits = (atto < 0n ? -atto : atto).toString().padStart(19, "0");
  const part = digits.slice(-18).replace(/0+$/, "");
  return `${atto < 0n ? "-" : ""}${digits.slice(0, -18)}${part && `.${part}`}`;
}
