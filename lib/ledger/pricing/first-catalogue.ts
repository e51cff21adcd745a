import {
  calcPrice,
  findProvider,
  type MatchLogic,
  type ModelInfo,
  type Provider,
  updatePrices,
  waitForUpdate,
} from "@pydantic/genai-prices";
import type { Candidate } from "./names/models";
import { canBeSameModel } from "./names/same-model";
import { catalogueVersion, type PriceTable } from "./price-table";

/** A model of the first catalogue. `pricesAt` returns the same object within a period. */
export type FirstMatch = {
  id: string;
  /** The index of the name that was found. */
  at: number;
  /** Whether the catalogue lists the name itself, not only a pattern that it matches. */
  isExact: boolean;
  /** Whether the price is that of the requested provider. For some models, the catalogue assumes the price of their vendor. */
  isOwn: boolean;
  pricesAt(instant: Date): PriceTable | undefined;
};

let version = catalogueVersion;

/** The version of the first catalogue that this process uses now. */
export function presentCatalogueVersion(): string {
  return version;
}

const shipped = waitForUpdate();

/** The providers of the package. */
export async function shippedProviders(): Promise<Provider[]> {
  return (await shipped) ?? [];
}

/** The providers that are used now. */
export async function presentProviders(): Promise<Provider[]> {
  return (await waitForUpdate()) ?? [];
}

/** Replaces the providers of the package. @param name the version to store @throws Error if the package cannot read the providers */
export function replaceFirstCatalogue(providers: Provider[], name: string): void {
  updatePrices(({ setProviderData }) => setProviderData(providers));
  version = name;
  models.clear();
  namesOf.clear();
}

/** The entries that were matched; many spellings share one entry. */
const models = new Map<string, DatedModel>();

/**
 * Finds the entries of the first catalogue for the names of one model, in the order of the names. The catalogue may list a model under
 * several ids.
 *
 * The catalogue finds models by patterns, some of which are too broad: a name that only matches a pattern must agree with the model in
 * versions, sizes and variants.
 *
 * Trying the patterns is slow (up to 0.3 ms), and clients choose the names. So the patterns are tried for at most three names: the first,
 * the last, and the one that another catalogue lists.
 * @param listedElsewhere the index of the name that another catalogue lists; -1 for none
 */
export function findInFirstCatalogue(names: readonly Candidate[], listedElsewhere = -1): FirstMatch[] {
  const found: FirstMatch[] = [];
  for (const [at, { provider, model }] of names.entries()) {
    const isTried = at === 0 || at === names.length - 1 || at === listedElsewhere;
    if (!isTried && !listedNames(provider).has(model.toLowerCase())) continue;
    const match = ask(provider, model, new Date(0));
    if (!match) continue;
    const isExact = namesListedBy(match.model).includes(model.toLowerCase());
    if (!isExact && !canBeSameModel(model, match.model.id)) continue;
    const key = `${match.provider.id}\n${match.model.id}`;
    const entry = models.get(key) ?? new DatedModel(match.provider.id, match.model, provider, model);
    models.set(key, entry);
    if (found.some(({ id }) => id === match.model.id)) continue;
    const isOwn = match.provider.models.includes(match.model) || sellsAtListPrice(provider, match.model.id);
    found.push({ id: match.model.id, at, isExact, isOwn, pricesAt: (instant) => entry.pricesAt(instant) });
  }
  return found;
}

/** The names that a provider's models list, in lower case, by provider. */
const namesOf = new Map<string, ReadonlySet<string>>();

function listedNames(providerId: string): ReadonlySet<string> {
  const known = namesOf.get(providerId);
  if (known) return known;
  const listed = findProvider({ providerId })?.models.flatMap(namesListedBy) ?? [];
  const names = new Set(listed);
  namesOf.set(providerId, names);
  return names;
}

/** A model's id and the names that its match logic lists literally, in lower case. */
function namesListedBy({ id, match }: ModelInfo): string[] {
  return [id, ...equalsOf(match)].map((name) => name.toLowerCase());
}

function equalsOf(logic: MatchLogic): string[] {
  if ("equals" in logic) return [logic.equals];
  return "or" in logic ? logic.or.flatMap(equalsOf) : [];
}

/** The models that a cloud sells at their vendor's price: Azure those of OpenAI and Anthropic, Google those of Anthropic. */
const atListPrice: Record<string, RegExp> = {
  azure: /^(?:gpt-|o\d|text-embedding-|claude-)/,
  google: /^claude-/,
};

const sellsAtListPrice = (provider: string, model: string) => atListPrice[provider]?.test(model) === true;

/** The first catalogue's id of a provider as clients spell it, by the catalogue's own rules. */
export function findFirstProvider(spelling: string): string | undefined {
  return findProvider({ providerId: spelling })?.id;
}

function ask(providerId: string, model: string, timestamp: Date) {
  try {
    return calcPrice({}, model, { providerId, timestamp });
  } catch {
    // A defect in an entry of the catalogue must not refuse a message: its usage becomes unpriced.
    return null;
  }
}

class DatedModel {
  readonly #startDates: number[] = [];
  readonly #clockTimes: number[] = [];
  readonly #stretches = new Map<number, PriceTable>();

  constructor(
    private readonly provider: string,
    private readonly info: ModelInfo,
    /** A spelling that the catalogue matches to this model. */
    private readonly askedProvider: string,
    private readonly askedModel: string,
  ) {
    const conditions = Array.isArray(info.prices) ? info.prices : [];
    for (const { constraint } of conditions) {
      if (constraint?.type === "start_date") this.#startDates.push(Date.parse(constraint.start_date));
      if (constraint?.type === "time_of_date")
        this.#clockTimes.push(parseClock(constraint.start_time), parseClock(constraint.end_time));
    }
  }

  /** Asks the catalogue once for each stretch between its start dates and times of day, and reuses the result. */
  pricesAt(instant: Date): PriceTable | undefined {
    const at = instant.getTime();
    if (Number.isNaN(at)) return undefined;
    const stretch = this.#stretchOf(at);
    const known = this.#stretches.get(stretch);
    if (known) return known;
    const prices = ask(this.askedProvider, this.askedModel, instant)?.model_price;
    if (!prices) return undefined;
    const table = { provider: this.provider, model: this.info.id, prices, version };
    this.#stretches.set(stretch, table);
    return table;
  }

  #stretchOf(at: number): number {
    if (this.#startDates.length === 0 && this.#clockTimes.length === 0) return 0;
    const dayMs = 86_400_000;
    const clock = ((at % dayMs) + dayMs) % dayMs;
    const passed = (boundaries: number[], now: number) =>
      boundaries.filter((boundary) => boundary <= now).length;
    return passed(this.#startDates, at) * 100 + passed(this.#clockTimes, clock);
  }
}

/** `16:30:00Z` or `08:00:00+08:00` → milliseconds since midnight UTC. */
function parseClock(text: string): number {
  const dayMs = 86_400_000;
  const at = Date.parse(`1970-01-02T${text}`);
  return ((at % dayMs) + dayMs) % dayMs;
}
