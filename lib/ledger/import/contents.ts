import type { Field } from "./fields";
import { readDate, readNumber } from "./notation";
import type { KnownProject } from "./readings";
import type { ReadRow } from "./row";

/** How many of the first rows are read to recognise the columns. */
const sampledRows = 200;

const currencies = new Set(
  "AUD BRL CAD CHF CNY CZK DKK EUR GBP HKD HUF IDR ILS INR JPY KRW MXN MYR NOK NZD PHP PLN RON SEK SGD THB TRY USD ZAR".split(
    " ",
  ),
);
const providers = new Set(
  "openai anthropic google azure aws bedrock mistral cohere groq deepseek xai together perplexity openrouter vertex fireworks replicate meta".split(
    " ",
  ),
);
const isDate = (text: string) =>
  /^\d{4}-\d\d-\d\d(?:[ T]|$)/.test(text) ||
  readDate(text, "dmy") !== undefined ||
  readDate(text, "mdy") !== undefined;
const isNumber = (text: string) =>
  readNumber(text, "point") !== undefined || readNumber(text, "comma") !== undefined;

/** Tests for the values of fields, in the order in which fields are guessed. Every value of a column must pass. */
function looksOf(projects: readonly KnownProject[]): [Field, (text: string) => boolean][] {
  const known = new Set(projects.flatMap(({ slug, name }) => [slug, name.toLocaleLowerCase()]));
  return [
    ["occurred_at", isDate],
    ["currency", (text) => currencies.has(text)],
    [
      "unit_type",
      (text) => /^(?:[a-z]+[_ ])*(?:tokens|requests|images|characters|seconds|minutes)$/i.test(text),
    ],
    ["provider", (text) => providers.has(text.toLowerCase())],
    [
      "model",
      (text) =>
        /^(?:gpt-|o[1-9]|claude-|gemini-|text-embedding-|llama|mistral|deepseek-|grok-)\S*$/i.test(text),
    ],
    ["user", (text) => /^[^@\s]+@[^@\s]+\.[^@\s]+$/.test(text)],
    ["project", (text) => known.has(text.toLocaleLowerCase())],
  ];
}

/** The fields of amounts. A file has one column for the cost, whatever its name. */
const costFields: Field[] = ["amount", "estimated_cost"];

/**
 * Guesses the fields of columns from their values, for columns whose names do not tell. A field is guessed only if exactly one column
 * has fitting values, so that the order of the columns does not matter. The cost is the only remaining column with decimals.
 * @param unused columns without a field
 * @param isTaken whether a field has a column or a value
 */
export function guessByContents(
  rows: readonly ReadRow[],
  unused: readonly string[],
  isTaken: (field: Field) => boolean,
  projects: readonly KnownProject[],
): Partial<Record<Field, string>> {
  const values = new Map(unused.map((column) => [column, valuesOf(rows, column)]));
  const found: Partial<Record<Field, string>> = {};
  const claim = (field: Field, looksRight: (texts: string[]) => boolean) => {
    const right = [...values].filter(([, texts]) => texts.length > 0 && looksRight(texts));
    const [column] = right[0] ?? [];
    if (right.length !== 1 || column === undefined) return;
    found[field] = column;
    values.delete(column);
  };
  for (const [field, looksRight] of looksOf(projects)) {
    if (!isTaken(field)) claim(field, (texts) => texts.every(looksRight));
  }
  if (!costFields.some(isTaken)) {
    claim("amount", (texts) => texts.every(isNumber) && texts.some((text) => /\d[.,]\d/.test(text)));
  }
  return found;
}

function valuesOf(rows: readonly ReadRow[], column: string): string[] {
  return rows
    .slice(0, sampledRows)
    .flatMap((row) => ("values" in row ? (row.values[column]?.trim() ?? "") : []))
    .filter((text) => text !== "");
}
