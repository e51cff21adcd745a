import { z } from "zod";
import {
  type Ask,
  type DayRange,
  dayOfSeconds,
  exactNumber,
  inDollars,
  nextPage,
  optionalText,
  type Provider,
  type PulledPage,
  type PulledRow,
  toRow,
  usd,
} from "./provider";

/** Days an answer has: a large organization has thousands of rows a day. */
const daysAPage = 7;

/** `/v1/organization/costs`. Fields that are there only if the costs are grouped by them may be missing. */
const page = z.object({
  data: z.array(
    z.object({
      start_time: dayOfSeconds,
      results: z.array(
        z.object({
          // Dollars, as a JSON number.
          amount: z.object({ value: inDollars, currency: usd.default("usd") }).optional(),
          line_item: optionalText,
          api_key_id: optionalText,
          quantity: exactNumber.nullish(),
          quantity_unit: optionalText,
        }),
      ),
    }),
  ),
  has_more: z.boolean(),
  next_page: z.string().nullish(),
});

type Result = z.output<typeof page>["data"][number]["results"][number];

/** A line of tokens: a model, a tier where it is not the standard one, and what is counted. */
const tokenLine = /^(.+), (?:(batch|flex|priority) )?(input|output|cached input|[a-z\d_]+_tokens)$/i;
const tokenUnits: Record<string, string> = {
  input: "input_tokens",
  output: "output_tokens",
  "cached input": "cached_tokens",
};

function readResult({ amount, line_item: line, api_key_id: key, ...counted }: Result): PulledRow[] {
  if (!amount) return [];
  const [, model, tier, kind] = tokenLine.exec(line ?? "") ?? [];
  const { quantity, quantity_unit: unit } = counted;
  const tokens = kind && (tokenUnits[kind.toLowerCase()] ?? kind);
  const row = { line, model, tier, key, amount: amount.value };
  if (quantity == null || unit == null || (tokens && !/tokens$/.test(unit)))
    return [toRow({ ...row, unit: tokens })];
  // `1000_tokens` of a line of input tokens are thousands of input tokens.
  const counts = tokens ? unit.replace(/tokens$/, tokens) : unit;
  return [toRow({ ...row, unit: counts, quantity: quantity.text })];
}

async function* pull(ask: Ask, { from, until }: DayRange): AsyncGenerator<PulledPage> {
  const seconds = (day: string) => String(Date.parse(`${day}T00:00:00Z`) / 1000);
  const query: [string, string][] = [
    ["start_time", seconds(from)],
    ["end_time", seconds(until)],
    ["bucket_width", "1d"],
    ["limit", String(daysAPage)],
    ["group_by[]", "line_item"],
    ["group_by[]", "api_key_id"],
  ];
  let next: string | undefined;
  do {
    const answer = await ask(
      "/v1/organization/costs",
      next === undefined ? query : [...query, ["page", next]],
      page,
    );
    yield answer.data.map(({ start_time: day, results }) => ({ day, rows: results.flatMap(readResult) }));
    next = nextPage(answer);
  } while (next !== undefined);
}

/** OpenAI: the costs of an organization, by line and API key. */
export const openai: Provider = {
  url: "https://api.openai.com",
  changingDays: 3,
  authorize: (key) => ({ Authorization: `Bearer ${key}` }),
  pull,
};
