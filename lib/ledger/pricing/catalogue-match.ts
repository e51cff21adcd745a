import { calcPrice, findProvider, type ModelInfo, type ModelPrice } from "@pydantic/genai-prices";

/** A provider's prices of a model during one period: price key → USD, or tiers of USD. */
export type PriceTable = { provider: string; model: string; prices: ModelPrice };

/** A model of the catalogue. `pricesAt` returns the same object within a period; undefined where it has no prices. */
export type CatalogueModel = { pricesAt(instant: Date): PriceTable | undefined };

export type MatchFailure = "unknown_provider" | "unknown_model";

// Clients choose provider and model names. Longer texts are not names, and matching them would waste time.
const maxNameLength = 200;

/*
 * A match tries up to 700 regular expressions (0.03 to 0.1 ms), so results are cached. The cache has two generations of
 * bounded size: a flood of invented names evicts only names that were not used since the last change of generation.
 */
const generationSize = 4_000;
let young = new Map<string, CatalogueModel | MatchFailure>();
let old = new Map<string, CatalogueModel | MatchFailure>();

/** The entries of the catalogue that were matched; many spellings share one entry. */
const models = new Map<string, CatalogueModel>();

/**
 * Finds the catalogue's entry for a provider and a model as clients spell them. It matches as the catalogue does:
 * aliases, dated ids, models that a cloud resells.
 */
export function matchModel(provider: string, model: string): CatalogueModel | MatchFailure {
  const name = `${provider}\n${model}`;
  const known = young.get(name);
  if (known !== undefined) return known;
  const found = old.get(name) ?? searchCatalogue(provider, model);
  if (name.length > 2 * maxNameLength) return found;
  if (young.size >= generationSize) {
    old = young;
    young = new Map();
  }
  young.set(name, found);
  return found;
}

/** The number of names in the cache. */
export function countRememberedNames(): number {
  return young.size + old.size;
}

function searchCatalogue(provider: string, model: string): CatalogueModel | MatchFailure {
  // With an empty provider, the catalogue would guess one from the model's name.
  if (provider.trim() === "" || provider.length > maxNameLength) return "unknown_provider";
  if (model.length > maxNameLength) return "unknown_model";
  const match = ask(provider, model, new Date(0));
  if (!match) return findProvider({ providerId: provider }) ? "unknown_model" : "unknown_provider";
  const key = `${match.provider.id}\n${match.model.id}`;
  let entry = models.get(key);
  if (!entry) {
    entry = new DatedModel(match.provider.id, match.model, provider, model);
    models.set(key, entry);
  }
  return entry;
}

function ask(providerId: string, model: string, timestamp: Date) {
  try {
    return calcPrice({}, model, { providerId, timestamp });
  } catch {
    // A defect in one entry of the catalogue must not refuse a message: its usage becomes unpriced.
    return null;
  }
}

class DatedModel implements CatalogueModel {
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

  /** The catalogue decides the prices. Between two of its boundaries, the first result is reused. */
  pricesAt(instant: Date): PriceTable | undefined {
    const at = instant.getTime();
    if (Number.isNaN(at)) return undefined;
    const stretch = this.#stretchOf(at);
    const known = this.#stretches.get(stretch);
    if (known) return known;
    const prices = ask(this.askedProvider, this.askedModel, instant)?.model_price;
    if (!prices) return undefined;
    const table = { provider: this.provider, model: this.info.id, prices };
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
