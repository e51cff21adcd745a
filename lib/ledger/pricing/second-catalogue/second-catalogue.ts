import type { ModelPrice } from "@pydantic/genai-prices";
import type { Candidate } from "@/lib/ledger/pricing/names/models";
import type { PriceTable } from "@/lib/ledger/pricing/price-table";
import snapshot from "./snapshot.json";

type Snapshot = {
  source: string;
  /** The day on which the source was read, `YYYY-MM-DD`. */
  date: string;
  models: Record<string, Record<string, ModelPrice & { services?: PriceTable["services"] }>>;
};

const { source, date, models } = snapshot as unknown as Snapshot;

/** The day on which the prices of the second catalogue were read, `YYYY-MM-DD`. */
export const secondCatalogueDate = date;

/** Whether the second catalogue has models of a provider. @param id the catalogue's id of the provider */
export function hasProvider(id: string): boolean {
  return Object.hasOwn(models, id);
}

/** The prices of the first of the names that is listed exactly, in any letter case; undefined if none is. */
export function findInSecondCatalogue(names: readonly Candidate[]): PriceTable | undefined {
  for (const { provider, model } of names) {
    const name = model.toLowerCase();
    const known = hasProvider(provider) ? models[provider] : undefined;
    if (!known || !Object.hasOwn(known, name)) continue;
    const { services, ...prices } = known[name] ?? {};
    return { provider, model: name, prices, version: source, ...(services && { services }) };
  }
  return undefined;
}

/** Every model of the second catalogue, for tests and comparisons. */
export function allModelsOfSecondCatalogue(): Candidate[] {
  return Object.entries(models).flatMap(([provider, known]) =>
    Object.keys(known).map((model) => ({ provider, model })),
  );
}
