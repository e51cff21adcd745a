import { z } from "zod";
import { dayIn } from "@/lib/bills/read-row";
import { add, type Decimal, parseDecimal, toText, zero } from "@/lib/decimal";
import { addDays } from "@/lib/spend/period";
import {
  type Ask,
  type DayRange,
  exactNumber,
  inCents,
  nextPage,
  optionalText,
  type Provider,
  ProviderRefusal,
  type PulledPage,
  type PulledRow,
  toRow,
  usd,
} from "./provider";

/** The most days of a call. */
const daysACall = 31;
const rowsAPage = 1000;
/** The Usage and Cost Analytics API has nothing before this day. */
const firstDay = "2026-01-01";
const beta = { "anthropic-beta": "analytics-usage-cost-2026-08-24" };

const day = z.string().transform((text, context) => {
  const found = dayIn(text);
  if (found !== undefined) return found;
  context.addIssue("must be a time");
  return z.NEVER;
});

/** What a cost is of. A field is null, or missing, where the costs are not grouped by it. */
const coordinates = z.object({
  model: optionalText,
  service_tier: optionalText,
  api_key_id: optionalText,
  cost_type: optionalText,
  token_type: optionalText,
  /** A user, or a service account, a cloud identity or a key. Only a user has an address, until the account is deleted. */
  actor: z.object({ email_address: optionalText }).nullish(),
});

const list = { has_more: z.boolean(), next_page: z.string().nullish() };

/** `/v1/organizations/analytics/cost`: amounts are decimal text of cents, before and after discounts. */
const analytics = z.object({
  data: z.array(
    z.object({
      starting_at: day,
      group: coordinates,
      cost: z.object({ amount: inCents, list_amount: inCents.optional(), currency: usd.default("USD") }),
    }),
  ),
  ...list,
});

const count = exactNumber.nullish();

/** `/v1/organizations/analytics/usage`: quantities, grouped like the costs. */
const usageReport = z.object({
  data: z.array(
    z.object({
      starting_at: day,
      group: coordinates,
      usage: z.object({
        uncached_input_tokens: count,
        cache_read_input_tokens: count,
        output_tokens: count,
        cache_creation: z
          .object({ ephemeral_5m_input_tokens: count, ephemeral_1h_input_tokens: count })
          .nullish(),
        server_tool_use: z.object({ web_search_requests: count }).nullish(),
      }),
    }),
  ),
  ...list,
});

/** `/v1/organizations/cost_report`: the same in buckets of a day, without the amounts before discounts. */
const report = z.object({
  data: z.array(
    z.object({
      starting_at: day,
      results: z.array(
        coordinates.extend({ amount: inCents, currency: usd.default("USD"), description: optionalText }),
      ),
    }),
  ),
  ...list,
});

type Coordinates = z.output<typeof coordinates>;

/** What both reports say alike. Tokens are counted by their type; anything else is a unit of its own. */
const placeOf = ({ model, service_tier: tier, api_key_id: key, actor, ...rest }: Coordinates) => {
  const { cost_type: type, token_type: tokens } = rest;
  const unit = tokens ?? (type === "tokens" ? undefined : type);
  return { model, tier, key, user: actor?.email_address, unit };
};

/** The group of a row within a day, as a key of a map. */
const keyOf = (
  of: string,
  { model, tier, key, user }: ReturnType<typeof placeOf>,
  unit: string | null | undefined,
) => JSON.stringify([of, model ?? null, tier ?? null, key ?? null, user ?? null, unit ?? null]);

/**
 * The quantities by group and unit. Empty if the organization has no access to the report. Several rows are of one group where they differ by
 * identities that are no people: their quantities are summed, and the first cost row of the group has the sum, the others 0.
 */
async function readQuantities(
  ask: Ask,
  query: [string, string][],
): Promise<(key: string) => string | undefined> {
  const quantities = new Map<string, Decimal>();
  try {
    for await (const { data } of pages(ask, "/v1/organizations/analytics/usage", query, usageReport, beta))
      for (const { starting_at: of, group, usage } of data) {
        const place = placeOf(group);
        const { cache_creation: written, server_tool_use: tools, ...counts } = usage;
        const found = {
          ...counts,
          "cache_creation.ephemeral_5m_input_tokens": written?.ephemeral_5m_input_tokens,
          "cache_creation.ephemeral_1h_input_tokens": written?.ephemeral_1h_input_tokens,
          web_search: tools?.web_search_requests,
        };
        for (const [unit, quantity] of Object.entries(found)) {
          if (!quantity || quantity.text === "0") continue;
          const key = keyOf(of, place, unit);
          quantities.set(key, add(quantities.get(key) ?? zero, parseDecimal(quantity.text)));
        }
      }
  } catch (error) {
    if (!(error instanceof ProviderRefusal && [403, 404].includes(error.status))) throw error;
  }
  return (key) => {
    const quantity = quantities.get(key);
    if (quantity) quantities.set(key, zero);
    return quantity && toText(quantity);
  };
}

async function* pull(ask: Ask, range: DayRange): AsyncGenerator<PulledPage> {
  let hasBegun = false;
  try {
    for await (const found of pullAnalytics(ask, range)) {
      hasBegun = true;
      yield found;
    }
  } catch (error) {
    // An organization without access to the newer report.
    const isMissing = error instanceof ProviderRefusal && [403, 404].includes(error.status);
    if (hasBegun || !isMissing) throw error;
    yield* pullReport(ask, range);
  }
}

async function* pullAnalytics(ask: Ask, { from, until }: DayRange): AsyncGenerator<PulledPage> {
  for (let start = later(from, firstDay); start < until; start = addDays(start, daysACall)) {
    const query: [string, string][] = [
      ...timesOf({ from: start, until: earlier(until, addDays(start, daysACall)) }),
      ["time_bucket_width", "1d"],
      ["order_by", "time"],
      ["order", "asc"],
      ["limit", String(rowsAPage)],
      ...groupedBy("model", "service_tier", "api_key_id", "actor"),
    ];
    const takeQuantity = await readQuantities(ask, query);
    const costs: [string, string][] = [...query, ...groupedBy("cost_type", "token_type")];
    for await (const { data } of pages(ask, "/v1/organizations/analytics/cost", costs, analytics, beta))
      yield data.map(({ starting_at: of, group, cost: { amount, list_amount: list } }) => {
        const place = placeOf(group);
        const quantity = takeQuantity(keyOf(of, place, place.unit));
        const line = group.cost_type === "tokens" ? null : group.cost_type;
        const row = { ...place, line, amount, ...(list && { list }), ...(quantity && { quantity }) };
        return { day: of, rows: [toRow(row)] };
      });
  }
}

async function* pullReport(ask: Ask, range: DayRange): AsyncGenerator<PulledPage> {
  const query: [string, string][] = [
    ...timesOf(range),
    ["bucket_width", "1d"],
    ["limit", String(daysACall)],
    ...groupedBy("description"),
  ];
  for await (const { data } of pages(ask, "/v1/organizations/cost_report", query, report))
    yield data.map(({ starting_at: of, results }) => ({ day: of, rows: results.map(readResult) }));
}

type Result = z.output<typeof report>["data"][number]["results"][number];

const readResult = ({ amount, description: line, ...group }: Result): PulledRow =>
  toRow({ ...placeOf(group), line, amount });

async function* pages<T extends { has_more: boolean; next_page?: string | null | undefined }>(
  ask: Ask,
  path: string,
  query: [string, string][],
  schema: z.ZodType<T>,
  headers?: Record<string, string>,
): AsyncGenerator<T> {
  let next: string | undefined;
  do {
    // A page's name is bound to its query, which stays the same.
    const answer = await ask(path, next === undefined ? query : [...query, ["page", next]], schema, headers);
    yield answer;
    next = nextPage(answer);
  } while (next !== undefined);
}

const timesOf = ({ from, until }: DayRange): [string, string][] => [
  ["starting_at", `${from}T00:00:00Z`],
  ["ending_at", `${until}T00:00:00Z`],
];
const groupedBy = (...names: string[]) => names.map((name): [string, string] => ["group_by[]", name]);
const later = (a: string, b: string) => (a > b ? a : b);
const earlier = (a: string, b: string) => (a < b ? a : b);

/** Anthropic: the costs of an organization, by model, tier, kind of token, API key and person. */
export const anthropic: Provider = {
  url: "https://api.anthropic.com",
  changingDays: 30,
  authorize: (key) => ({ "x-api-key": key, "anthropic-version": "2023-06-01" }),
  pull,
};
