/**
 * Parses an amount as people type it: `$1,250.50` is `1250.50`.
 * @returns exact decimal digits; an empty text for an empty input; undefined when the input is not an amount
 */
export function parseAmount(typed: string): string | undefined {
  const text = typed.trim().replace(/^\$\s*/, "");
  // A comma is accepted only between thousands, because "1,5" means 1.5 in some countries.
  const isAmount = /^(\d+|\d{1,3}(,\d{3})+)(\.\d+)?$/.test(text);
  return text === "" || isAmount ? text.replaceAll(",", "").replace(/^0+(?=\d)/, "") : undefined;
}
