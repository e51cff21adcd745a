/**
 * A way in which a model's name is written elsewhere than in the catalogue.
 * - `of`: the providers that it holds for; all where it is left out.
 * - `pattern`, `to`: as in `String.replace`.
 * - `means`: the provider that such a name shows to have served the call, where it is another one than the client named.
 * - `example`: a name and what becomes of it, which a test checks.
 */
export type NameRule = {
  of?: readonly string[];
  pattern: RegExp;
  to: string;
  means?: string;
  example: readonly [from: string, to: string];
};

const claude = ["anthropic", "aws", "azure", "google"];

/** `to` for a name that is right as it is, and only shows another provider. */
const asItIs = "$&";

/** In the order in which they apply, each to what the rules before it left. */
export const nameRules: readonly NameRule[] = [
  // Claude Code marks the context window.
  { pattern: /\[\d+[km]\]$/i, to: "", example: ["claude-opus-4-8[1m]", "claude-opus-4-8"] },
  // OpenRouter's variants with the price of the model itself.
  {
    of: ["openrouter"],
    pattern: /:(?:nitro|floor|online|exacto|beta|thinking)$/i,
    to: "",
    example: ["openai/gpt-4o:nitro", "openai/gpt-4o"],
  },
  // A provider's own name before the model's.
  ...Object.entries({
    openai: ["openai"],
    anthropic: ["anthropic"],
    google: ["google", "gemini", "vertex_ai", "vertex"],
    azure: ["azure", "azure_ai", "openai"],
    aws: ["bedrock", "amazon-bedrock"],
    "x-ai": ["x-ai", "xai"],
    mistral: ["mistral", "mistralai"],
    moonshotai: ["moonshotai", "moonshot"],
    deepseek: ["deepseek", "deepseek-ai"],
    cohere: ["cohere"],
    perplexity: ["perplexity"],
    groq: ["groq"],
    cerebras: ["cerebras"],
    together: ["together_ai", "together", "togetherai"],
    fireworks: ["fireworks_ai", "fireworks"],
    openrouter: ["openrouter"],
    zai: ["zai", "z-ai", "zai-org"],
    zhipuai: ["zhipuai", "zhipu"],
    deepinfra: ["deepinfra"],
    novita: ["novita"],
    nebius: ["nebius"],
    alibaba: ["alibaba", "dashscope", "qwen"],
  }).map(
    ([id, prefixes]): NameRule => ({
      of: [id],
      pattern: new RegExp(`^(?:${prefixes.join("|")})/`, "i"),
      to: "",
      example: [`${prefixes[0]}/a-model`, "a-model"],
    }),
  ),
  // Resource names of Google's interfaces.
  {
    of: ["google"],
    pattern: /^(?:projects\/[^/]+\/locations\/[^/]+\/)?(?:publishers\/[^/]+\/)?models\//i,
    to: "",
    example: ["publishers/google/models/gemini-2.5-pro", "gemini-2.5-pro"],
  },
  // ARNs of Bedrock. An application's own inference profile does not show its model.
  {
    pattern: /^arn:aws[\w-]*:bedrock:[^:]*:[^:]*:(?:foundation-model|inference-profile)\/(.+)$/i,
    to: "$1",
    means: "aws",
    example: ["arn:aws:bedrock:us-east-1::foundation-model/amazon.nova-pro-v1:0", "amazon.nova-pro-v1:0"],
  },
  // Ids of Bedrock under the name of the model's vendor: Bedrock served the call.
  {
    of: ["anthropic", "openai", "cohere", "mistral", "deepseek"],
    pattern: /^(?:(?:us|eu|apac|jp|au|ca|global|us-gov)\.)?(?:anthropic|openai|cohere|mistral|deepseek)\..+/i,
    to: asItIs,
    means: "aws",
    example: ["us.anthropic.claude-sonnet-4-5-20250929-v1:0", "us.anthropic.claude-sonnet-4-5-20250929-v1:0"],
  },
  {
    of: ["aws"],
    pattern: /^(?:converse|invoke)\//i,
    to: "",
    example: ["converse/amazon.nova-pro-v1:0", "amazon.nova-pro-v1:0"],
  },
  // Vertex writes a version after an @.
  {
    pattern: /@(20\d{6})$/,
    to: "-$1",
    example: ["claude-sonnet-4-5@20250929", "claude-sonnet-4-5-20250929"],
  },
  // OpenRouter's answers name models by version before family, with a date.
  {
    of: ["openrouter"],
    pattern: /^anthropic\/claude-([4-9](?:\.\d)?)-(opus|sonnet|haiku)/i,
    to: "anthropic/claude-$2-$1",
    example: ["anthropic/claude-4.5-sonnet", "anthropic/claude-sonnet-4.5"],
  },
  // Claude's versions with a dot, and before the family.
  {
    of: claude,
    pattern: /(claude-(?:[a-z]+-)?\d)\.(\d)/i,
    to: "$1-$2",
    example: ["claude-sonnet-4.5", "claude-sonnet-4-5"],
  },
  {
    of: claude,
    pattern: /claude-([4-9](?:-\d)?)-(opus|sonnet|haiku)/i,
    to: "claude-$2-$1",
    example: ["claude-4-5-sonnet-20250929", "claude-sonnet-4-5-20250929"],
  },
  // Azure's global deployments have the listed price. Those of a data zone cost more, and are listed as `us/` and `eu/`.
  { of: ["azure"], pattern: /^global(?:-standard)?\//i, to: "", example: ["global/gpt-4o", "gpt-4o"] },
  // Azure's deployments cannot have a dot in their names.
  { of: ["azure"], pattern: /^gpt-?35-/i, to: "gpt-3.5-", example: ["gpt-35-turbo", "gpt-3.5-turbo"] },
  // A model tuned by a customer: its price is that of its base, tuned.
  {
    of: ["openai", "azure"],
    pattern: /^(ft:[^:]+):.*$/i,
    to: "$1",
    example: ["ft:gpt-4o-2024-08-06:acme::9xYz", "ft:gpt-4o-2024-08-06"],
  },
  {
    of: ["fireworks"],
    pattern: /^(?!accounts\/)([^/]+)$/i,
    to: "accounts/fireworks/models/$1",
    example: ["qwen3-235b-a22b", "accounts/fireworks/models/qwen3-235b-a22b"],
  },
  // A date or a mark of the newest version. Names that are listed with their date are found before these rules are tried.
  { pattern: /-20\d{2}-?\d{2}-?\d{2}$/, to: "", example: ["gpt-4o-2024-08-06", "gpt-4o"] },
  { pattern: /[-@](?:latest|default)$/i, to: "", example: ["claude-sonnet-4-5-latest", "claude-sonnet-4-5"] },
  // The catalogue lists some of OpenRouter's models a second time, without the vendor.
  {
    of: ["openrouter"],
    pattern: /^(?:anthropic|openai|google|x-ai|mistralai|deepseek|meta-llama|qwen)\//i,
    to: "",
    example: ["x-ai/grok-3", "grok-3"],
  },
  // Weights under the name of their vendor, where the provider's own name has none, and the other way round.
  {
    of: ["groq", "cerebras"],
    pattern: /^(?:meta-llama|openai|qwen|moonshotai)\//i,
    to: "",
    example: ["openai/gpt-oss-120b", "gpt-oss-120b"],
  },
  {
    of: ["groq"],
    pattern: /^gpt-oss-/i,
    to: "openai/gpt-oss-",
    example: ["gpt-oss-20b", "openai/gpt-oss-20b"],
  },
];

/** A provider and a model's name that may be in the catalogue. */
export type Candidate = { provider: string; model: string };

/**
 * The names by which the catalogue may know a model: as it is, then as each rule in turn rewrites it. Where a name shows another
 * provider than the one that the client named, only that provider's names count.
 * @param provider the catalogue's id
 */
export function candidates(provider: string, model: string): Candidate[] {
  let current: Candidate = { provider, model: model.trim() };
  const found = [current];
  for (const rule of nameRules) {
    if ((rule.of && !rule.of.includes(current.provider)) || !rule.pattern.test(current.model)) continue;
    const rewritten = current.model.replace(rule.pattern, rule.to);
    if (rewritten === "") continue;
    current = { provider: rule.means ?? current.provider, model: rewritten };
    found.push(current);
  }
  const served = current.provider;
  return found.filter((each) => each.provider === served);
}
