import type { ModelPrice } from "@pydantic/genai-prices";

/** How a provider may serve a call at a price of its own. `fast` is Anthropic's fast mode; OpenAI's is `priority`. */
export const pricedTiers = ["batch", "flex", "priority", "fast", "ultrafast"] as const;

/** How a provider served a call. `standard` is what everybody gets who asks for nothing. */
export type ServiceTier = "standard" | (typeof pricedTiers)[number];

/**
 * A provider's prices of a model during one period.
 * - `prices`: price key → USD, or steps of USD by a request's input tokens.
 * - `services`: the prices of other service tiers than the standard one.
 * - `version`: where the prices are from, stored with every amount.
 */
export type PriceTable = {
  provider: string;
  model: string;
  prices: ModelPrice;
  services?: Readonly<Partial<Record<Exclude<ServiceTier, "standard">, ModelPrice>>>;
  version: string;
};

/** The first catalogue of this build, stored with every amount that it priced. A test compares it with the installed package. */
export const catalogueVersion = "genai-prices 0.1.8";
