/** Digits of an amount as people type it, "$1,250.50"; empty for nothing, undefined for what is none. */
export function readTypedAmount(typed: string): string | undefined {
  const text = typed.trim().replace(/^\$\s*/, "");
  // A comma only where thousands part: "1,5" is one and a half to some, and fifteen to nobody.
  const isAmount = /^(\d+|\d{1,3}(,\d{3})+)(\.\d+)?$/.test(text);
  return text === "" || isAmount ? text.replaceAll(",", "").replace(/^0+(?=\d)/, "") : undefined;
}
