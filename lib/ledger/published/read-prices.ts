import type { MatchLogic, ModelInfo, ModelPrice, Provider } from "@pydantic/genai-prices";
import { z } from "zod";
import { jumps, UnusableFile } from "./read-rates";

const name = z.string().min(1).max(200);
/** USD per million tokens, per hour, or per other units. The maximum refuses broken files. */
const price = z.number().min(0).max(100_000);
const tiered = z.object({ base: price, tiers: z.array(z.object({ start: z.int().min(0), price })).max(20) });
const prices = z.record(name, z.union([price, tiered]));

const logic: z.ZodType<MatchLogic> = z.lazy(() =>
  z.union([
    z.strictObject({ equals: name }),
    z.strictObject({ starts_with: name }),
    z.strictObject({ ends_with: name }),
    z.strictObject({ contains: name }),
    z.strictObject({ regex: name }),
    z.strictObject({ or: z.array(logic).min(1).max(200) }),
    z.strictObject({ and: z.array(logic).min(1).max(200) }),
  ]),
);

const clock = z.string().regex(/^\d{2}:\d{2}:\d{2}(Z|[+-]\d{2}:\d{2})$/);
const constraint = z.union([
  z.object({ start_date: z.iso.date() }).transform((each) => ({ ...each, type: "start_date" as const })),
  z
    .object({ start_time: clock, end_time: clock })
    .transform((each) => ({ ...each, type: "time_of_date" as const })),
]);

/** The fields of providers that are needed to find prices. Others are dropped. */
const catalogue = z
  .array(
    z.object({
      id: name,
      name,
      api_pattern: z.string().max(500),
      model_match: logic.optional(),
      provider_match: logic.optional(),
      fallback_model_providers: z.array(name).max(50).optional(),
      models: z
        .array(
          z.object({
            id: name,
            match: logic,
            prices: z.union([
              prices,
              z
                .array(z.object({ constraint: constraint.optional(), prices }))
                .min(1)
                .max(100),
            ]),
          }),
        )
        .max(10_000),
    }),
  )
  .min(1)
  .max(500);

/** The present catalogue updated by a file. `held`: models that wait for the operator, by `provider/model`. */
export type ReadPrices = { providers: Provider[]; held: Record<string, ModelInfo> };

/**
 * Reads a file of the catalogue genai-prices (`prices/new_data/v2/data.json` of its repository).
 * - Price keys that the present catalogue does not have are dropped, because this build cannot read them.
 * - A model that the file lacks is kept, so that its usage does not become unpriced.
 * - A model whose current price differs by more than 20 % is kept unchanged, and the new version waits for the operator. So does a model
 *   with a regular expression that the present catalogue does not have: clients choose the names that it is matched with, and a bad
 *   expression can take very long.
 * @param present the present catalogue
 * @param now milliseconds since 1970
 * @throws UnusableFile
 */
export function readPrices(text: string, present: readonly Provider[], now: number): ReadPrices {
  const read = parse(text);
  const keys = new Set(
    present.flatMap(({ models }) => models.flatMap((model) => allPrices(model).flatMap(Object.keys))),
  );
  const patterns = new Set(
    present.flatMap(({ model_match, provider_match, models }) =>
      [model_match, provider_match, ...models.map(({ match }) => match)].flatMap(patternsOf),
    ),
  );
  const isKnown = (match: MatchLogic | undefined) => patternsOf(match).every((each) => patterns.has(each));
  const held: Record<string, ModelInfo> = {};
  const providers = read.map((provider) => {
    const before = present.find(({ id }) => id === provider.id);
    if (!isKnown(provider.model_match) || !isKnown(provider.provider_match))
      throw new UnusableFile(`The provider ${provider.id} has a new pattern.`);
    const models = provider.models.flatMap((each) => {
      const model = withKeys(each, keys);
      const known = before?.models.find(({ id }) => id === model.id);
      const isHeld = !isKnown(model.match) || (known && modelJumps(known, model, now));
      if (!isHeld) return [model];
      held[`${provider.id}/${model.id}`] = model;
      return known ? [known] : [];
    });
    const gone = before?.models.filter(({ id }) => !provider.models.some((model) => model.id === id)) ?? [];
    return { ...provider, models: [...models, ...gone] };
  });
  const goneProviders = present.filter(({ id }) => !read.some((provider) => provider.id === id));
  return { providers: [...providers, ...goneProviders.map(bare)], held };
}

/** A provider without the fields that are not needed to find prices. */
const bare = ({ extractors: _, pricing_urls: __, ...provider }: Provider): Provider => provider;

function parse(text: string): Provider[] {
  let file: unknown;
  try {
    file = JSON.parse(text);
  } catch {
    throw new UnusableFile("It is not JSON.");
  }
  const parsed = catalogue.safeParse(file);
  if (parsed.success) return parsed.data as Provider[];
  const [issue] = parsed.error.issues;
  throw new UnusableFile(`${issue?.path.join(".") || "It"}: ${issue?.message}`);
}

function allPrices({ prices: each }: ModelInfo): ModelPrice[] {
  return Array.isArray(each) ? each.map((conditional) => conditional.prices) : [each];
}

function withKeys(model: ModelInfo, keys: ReadonlySet<string>): ModelInfo {
  const pick = (each: ModelPrice) =>
    Object.fromEntries(Object.entries(each).filter(([key]) => keys.has(key)));
  const { prices: given } = model;
  return {
    ...model,
    prices: Array.isArray(given)
      ? given.map((conditional) => ({ ...conditional, prices: pick(conditional.prices) }))
      : pick(given),
  };
}

function patternsOf(match: MatchLogic | undefined): string[] {
  if (!match) return [];
  if ("regex" in match) return [match.regex];
  if ("or" in match) return match.or.flatMap(patternsOf);
  return "and" in match ? match.and.flatMap(patternsOf) : [];
}

/** The prices at an instant, ignoring those that apply only at certain hours. */
function pricesOn({ prices: given }: ModelInfo, now: number): ModelPrice {
  if (!Array.isArray(given)) return given;
  const held = given.findLast(
    ({ constraint: when }) =>
      when === undefined || (when.type === "start_date" && Date.parse(when.start_date) <= now),
  );
  return (held ?? given[0])?.prices ?? {};
}

/** Whether a price that both versions have differs too much: a base price, or the price of a tier with the same start. */
function modelJumps(before: ModelInfo, next: ModelInfo, now: number): boolean {
  const [old, present] = [pricesOn(before, now), pricesOn(next, now)];
  return Object.entries(present).some(([key, value]) => {
    const steps = new Map(stepsOf(old[key]));
    return stepsOf(value).some(([start, each]) => {
      const known = steps.get(start);
      return known !== undefined && jumps(known, each);
    });
  });
}

function stepsOf(value: ModelPrice[string]): [start: number, price: number][] {
  if (value === undefined) return [];
  if (typeof value === "number") return [[0, value]];
  return [[0, value.base], ...value.tiers.map(({ start, price: each }): [number, number] => [start, each])];
}
