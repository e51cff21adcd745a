import { byLocale } from "@/components/reader/by-reader";

const hasDecimalComma = byLocale((tag) =>
  new Intl.NumberFormat(tag)
    .formatToParts(0.5)
    .some(({ type, value }) => type === "decimal" && value === ","),
);

/** 1250, 1,250.50 or 1 250.50. */
const withPoint = /^(?:\d+|\d{1,3}(?:,\d{3})+|[1-9]\d{0,2}(?:[\s’']\d{3})+)(?:\.\d+)?$/u;
/** 1250, 1.250,50 or 1 250,50. */
const withComma = /^(?:\d+|[1-9]\d{0,2}(?:\.\d{3})+|[1-9]\d{0,2}(?:[\s’']\d{3})+)(?:,\d+)?$/u;
/** Text with a separator that marks thousands for some readers and a fraction for others: 1.250 or 1,250. */
const ambiguous = /^[1-9]\d{0,2}[.,]\d{3}$/;

/**
 * Parses a typed amount: `$1,250.50` is `1250.50`, and so is `1.250,50 $` for a reader whose locale has a decimal comma. For such a
 * reader, ambiguous text such as `1.250` and `1,250` is not an amount. For readers with a decimal point, a comma is only accepted
 * between thousands, because "1,5" means 1.5 in some countries.
 * @returns exact decimal digits; an empty text for an empty input; undefined when the input is not an amount
 */
export function parseAmount(typed: string): string | undefined {
  const text = typed.trim().replace(/^\$\s*|\s*\$$/gu, "");
  if (text === "") return "";
  const digits = hasDecimalComma() ? readByEither(text) : readWithPoint(text);
  return digits?.replace(/^0+(?=\d)/, "");
}

function readWithPoint(text: string): string | undefined {
  return withPoint.test(text) ? text.replaceAll(/[,\s’']/gu, "") : undefined;
}

function readByEither(text: string): string | undefined {
  if (ambiguous.test(text)) return undefined;
  return withComma.test(text) ? text.replaceAll(/[.\s’']/gu, "").replace(",", ".") : readWithPoint(text);
}
