import { isDeepStrictEqual } from "node:util";
import type { Provider } from "@pydantic/genai-prices";
import { type Correction, findCorrections } from "./corrections";
import {
  type FirstMatch,
  findFirstProvider,
  findInFirstCatalogue,
  presentCatalogueVersion,
  replaceFirstCatalogue,
} from "./first-catalogue";
import { type Candidate, candidates } from "./names/models";
import { isGateway, providerId } from "./names/providers";
import { canBeSameModel } from "./names/same-model";
import type { PriceTable } from "./price-table";
import { findInSecondCatalogue, hasProvider } from "./second-catalogue/second-catalogue";

/**
 * A model of the catalogues.
 * - `tablesAt`: its prices from our corrections or the first catalogue, best match first if that lists the model under several names.
 *   Returns the same tables within a period.
 * - `second`: its prices from the second catalogue, for units that the others lack.
 */
export type CatalogueModel = {
  tablesAt(instant: Date): readonly PriceTable[];
  second: PriceTable | undefined;
};

export type MatchFailure = "unknown_provider" | "unknown_model";

// Clients choose provider and model names. Longer texts are not names, and matching them would waste time.
const maxNameLength = 200;

/*
 * A match tries up to 700 regular expressions for each spelling of the name (0.03 to 2 ms), so results are cached. The cache has two
 * generations of bounded size: a flood of invented names evicts only names that were not used since the generations last changed.
 */
const generationSize = 4_000;
let young = new Map<string, CatalogueModel | MatchFailure>();
let old = new Map<string, CatalogueModel | MatchFailure>();

/** The models that were matched; many spellings share one. */
const models = new Map<string, CatalogueModel>();

/**
 * Finds a model in the catalogues by a provider and a model name as clients spell them: aliases, dated ids, models that a cloud
 * resells, and the names that SDKs, gateways and clouds use. A name that only resembles a model's name finds nothing.
 */
export function matchModel(provider: string, model: string): CatalogueModel | MatchFailure {
  const name = `${provider}\n${model}`;
  const known = young.get(name);
  if (known !== undefined) return known;
  const found = old.get(name) ?? searchCatalogues(provider, model);
  if (name.length > 2 * maxNameLength) return found;
  if (young.size >= generationSize) {
    old = young;
    young = new Map();
  }
  young.set(name, found);
  return found;
}

/**
 * Replaces the first catalogue that ships with the build.
 * @param version stored with every amount that they price
 * @throws Error if the providers cannot be read; then nothing changes
 */
export function replaceCatalogue(providers: Provider[], version: string): void {
  replaceFirstCatalogue(providers, version);
  young = new Map();
  old = new Map();
  models.clear();
}

/** The number of names in the cache. */
export function countRememberedNames(): number {
  return young.size + old.size;
}

function searchCatalogues(provider: string, model: string): CatalogueModel | MatchFailure {
  // With an empty provider, the catalogue would guess one from the model's name.
  if (provider.trim() === "" || provider.length > maxNameLength) return "unknown_provider";
  if (model.length > maxNameLength) return "unknown_model";
  const named = isGateway(provider) ? throughGateway(provider, model) : { provider: idOf(provider), model };
  if (named.provider === undefined) return "unknown_provider";
  const names = candidates(named.provider, named.model);
  const free = freeModel(names);
  if (free) return free;
  const second = findInSecondCatalogue(names);
  const secondAt = names.findIndex(({ model: each }) => each.toLowerCase() === second?.model);
  // A correction of a name without a date does not apply to a name that is listed with its date.
  const corrections = findCorrections(second ? names.slice(0, secondAt + 1) : names);
  const matches = preferListed(findInFirstCatalogue(names, secondAt), second, secondAt);
  if (matches.length === 0 && !second && corrections.length === 0) return "unknown_model";
  const ids = matches.map(({ id }) => id);
  const key = JSON.stringify([named.provider, ids, second?.model, corrections[0]?.models]);
  const entry = models.get(key) ?? toModel(named.provider, matches, second, corrections);
  models.set(key, entry);
  return entry;
}

function idOf(provider: string): string | undefined {
  const name = provider.trim().toLowerCase();
  return providerId(provider) ?? findFirstProvider(provider) ?? (hasProvider(name) ? name : undefined);
}

/** Reads a gateway's name of a model: `openai/gpt-4o` is the model `gpt-4o` of `openai`. */
function throughGateway(gateway: string, model: string): { provider: string | undefined; model: string } {
  const slash = model.indexOf("/");
  if (slash > 0) return { provider: idOf(model.slice(0, slash)), model: model.slice(slash + 1) };
  return { provider: findFirstProvider(gateway) ?? gateway, model };
}

/**
 * Drops matches of the first catalogue if the second one lists the name more exactly: that is, if the first one found it only after
 * rewriting, by a pattern with another price, as another model, or at another provider's price. The name may belong to a version with its
 * own price, such as `gpt-4o-2024-05-13`.
 */
function preferListed(
  matches: readonly FirstMatch[],
  second: PriceTable | undefined,
  secondAt: number,
): readonly FirstMatch[] {
  const [best] = matches;
  if (!best || !second) return matches;
  if (secondAt < best.at) return [];
  if (secondAt > best.at) return matches;
  if (!best.isOwn || !canBeSameModel(second.model, best.id)) return [];
  if (best.isExact) return matches;
  const undated = findInSecondCatalogue([{ provider: second.provider, model: best.id }]);
  return undated && !isDeepStrictEqual(undated.prices, second.prices) ? [] : matches;
}

const freePrices = { input_mtok: 0, output_mtok: 0, cache_read_mtok: 0, cache_write_mtok: 0 };

/** OpenRouter's variants with `:free` cost nothing (openrouter.ai/docs/features/model-routing). */
function freeModel(names: readonly Candidate[]): CatalogueModel | undefined {
  const [first] = names;
  if (first?.provider !== "openrouter" || !/^[^/]+\/[^/]+:free$/i.test(first.model)) return undefined;
  const table = { ...first, prices: freePrices, version: presentCatalogueVersion() };
  return { tablesAt: () => [table], second: undefined };
}

function toModel(
  provider: string,
  matches: readonly FirstMatch[],
  second: PriceTable | undefined,
  corrections: readonly Correction[],
): CatalogueModel {
  const periods = corrections
    .map(({ from, models: [model = ""], prices, source }) => ({
      start: from === undefined ? Number.NEGATIVE_INFINITY : Date.parse(from),
      table: { provider, model, prices, version: from === undefined ? source : `correction of ${from}` },
    }))
    .reverse();
  const correctedAt = (instant: Date) => periods.find(({ start }) => start <= instant.getTime())?.table;
  return {
    tablesAt(instant) {
      if (Number.isNaN(instant.getTime())) return [];
      const corrected = correctedAt(instant);
      if (corrected) return [corrected];
      return matches.flatMap((match) => match.pricesAt(instant) ?? []);
    },
    second,
  };
}
