/** The decimal separator of a number: `1,234.5` or `1.234,5`. */
export type DecimalMark = "point" | "comma";

/** The order of a date that is written with numbers: `31.12.2026` or `12/31/2026`. */
export type DayOrder = "dmy" | "mdy";

/** The notations of a file, as far as they are known. */
export type Readings = { decimals?: DecimalMark | undefined; dates?: DayOrder | undefined };

/** Numbers with or without thousands separators. Spaces and apostrophes are thousands separators in either notation. */
const numbers: Record<DecimalMark, RegExp> = {
  point: /^([+-]?)(\d*|[1-9]\d{0,2}(?:,\d{3})+)(?:\.(\d*))?(?:e([+-]?\d+))?$/i,
  comma: /^([+-]?)(\d*|[1-9]\d{0,2}(?:\.\d{3})+)(?:,(\d*))?(?:e([+-]?\d+))?$/i,
};
/** Digits with a decimal point and no thousands separators, which can be read in one way only. */
const plainNumber = /^([+-]?)(\d*)(?:\.(\d*))?(?:e([+-]?\d+))?$/i;
const spacedThousands = /^[+-]?[1-9]\d{0,2}(?:[ \u00a0\u202f'’]\d{3})+(?!\d)/;

/**
 * Converts a number to JSON's notation, digit by digit; undefined if the text is not a number in this notation.
 * @param mark undefined for plain digits with a point, without thousands separators
 */
export function readNumber(text: string, mark?: DecimalMark): string | undefined {
  const joined = mark && spacedThousands.test(text) ? text.replace(/[ \u00a0\u202f'’]/g, "") : text;
  const [, sign, whole, fraction, exponent] = (mark ? numbers[mark] : plainNumber).exec(joined) ?? [];
  if (whole === undefined || (whole === "" && !fraction)) return undefined;
  const digits = whole.replace(/[.,]/g, "").replace(/^0+(?=\d)/, "") || "0";
  return `${sign === "-" ? "-" : ""}${digits}${fraction ? `.${fraction}` : ""}${exponent ? `e${exponent}` : ""}`;
}

const written = /^(\d{1,2})([./-])(\d{1,2})\2(\d{4})(?:,?[ T](\d{1,2}:\d\d(?::\d\d(?:\.\d+)?)?))?$/;

/**
 * Converts a numeric date with the day or the month first to `YYYY-MM-DD`, followed by the time if there is one. Undefined if the text
 * is not a date in this order. A date with points always has the day first.
 */
export function readDate(text: string, order: DayOrder): string | undefined {
  const [, first = "", separator, second = "", year = "", time] = written.exec(text) ?? [];
  if (separator === undefined || (separator === "." && order === "mdy")) return undefined;
  const [date, month] = order === "dmy" ? [first, second] : [second, first];
  const day = `${year}-${month.padStart(2, "0")}-${date.padStart(2, "0")}`;
  const parsed = Date.parse(`${day}T00:00:00Z`);
  if (Number.isNaN(parsed) || new Date(parsed).toISOString().slice(0, 10) !== day) return undefined;
  if (time === undefined) return day;
  return `${day} ${time.indexOf(":") === 1 ? `0${time}` : time}`;
}
