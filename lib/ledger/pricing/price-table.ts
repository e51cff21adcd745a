import type { ModelPrice } from "@pydantic/genai-prices";

/** The service tiers with prices of their own. `fast` is Anthropic's fast mode; OpenAI's is `priority`. */
export const pricedTiers = ["batch", "flex", "priority", "fast", "ultrafast"] as const;

/** How a provider served a call. `standard` is the tier of a request that asks for none. */
export type ServiceTier = "standard" | (typeof pricedTiers)[number];

/**
 * A provider's prices of a model during one period.
 * - `prices`: price key → USD, or tiers of USD by a request's input tokens.
 * - `services`: the prices of other service tiers than the standard one.
 * - `version`: the origin of the prices, stored with every amount.
 */
export type PriceTable = {
  provider: string;
  model: string;
  prices: ModelPrice;
  services?: Readonly<Partial<Record<Exclude<ServiceTier, "standard">, ModelPrice>>>;
  version: string;
};

/** The version of the first catalogue that ships with this build. A test compares it with the installed package. */
export const catalogueVersion = "genai-prices 0.1.8";
