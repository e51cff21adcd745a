/**
 * Rewrites a spelling of a model's name towards that of the catalogue.
 * - `of`: the providers that it applies to; all by default.
 * - `pattern`, `to`: as in `String.replace`.
 * - `means`: the provider that served the call, if the name shows another one than the client named.
 * - `example`: a name and its rewritten form, which a test checks.
 */
export type NameRule = {
  of?: readonly string[];
  pattern: RegExp;
  to: string;
  means?: string;
  example: readonly [from: string, to: string];
};

const claude = ["anthropic", "aws", "azure", "google"];

/** `to` for a name that is kept and only shows another provider. */
const asItIs = "$&";

/** The rules in the order in which they apply, each to the result of the one before. */
export const nameRules: readonly NameRule[] = [
  // Claude Code marks the context window.
  { pattern: /\[\d+[km]\]$/i, to: "", example: ["claude-opus-4-8[1m]", "claude-opus-4-8"] },
  // OpenRouter's variants that have the price of the model itself.
  {
    of: ["openrouter"],
    pattern: /:(?:nitro|floor|online|exacto|beta|thinking)$/i,
    to: "",
    example: ["openai/gpt-4o:nitro", "openai/gpt-4o"],
  },
  // The provider's own name as a prefix.
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
  // Resource names of Google's APIs.
  {
    of: ["google"],
    pattern: /^(?:projects\/[^/]+\/locations\/[^/]+\/)?(?:publishers\/[^/]+\/)?models\//i,
    to: "",
    example: ["publishers/google/models/gemini-2.5-pro", "gemini-2.5-pro"],
  },
  // ARNs of Bedrock. The ARN of an application inference profile does not show the model.
  {
    pattern: /^arn:aws[\w-]*:bedrock:[^:]*:[^:]*:(?:foundation-model|inference-profile)\/(.+)$/i,
    to: "$1",
    means: "aws",
    example: ["arn:aws:bedrock:us-east-1::foundation-model/amazon.nova-pro-v1:0", "amazon.nova-pro-v1:0"],
  },
  // Bedrock's model ids while the client names the vendor as the provider: Bedrock served the call.
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
  // OpenRouter's answers write the version before the family, with a date.
  {
    of: ["openrouter"],
    pattern: /^anthropic\/claude-([4-9](?:\.\d)?)-(opus|sonnet|haiku)/i,
    to: "anthropic/claude-$2-$1",
    example: ["anthropic/claude-4.5-sonnet", "anthropic/claude-sonnet-4.5"],
  },
  // Claude's versions with a dot, or before the family.
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
  // A fine-tuned model has the fine-tuning price of its base model.
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
  // A date or an alias of the newest version. Names that are listed with their date are found before these rules apply.
  { pattern: /-20\d{2}-?\d{2}-?\d{2}$/, to: "", example: ["gpt-4o-2024-08-06", "gpt-4o"] },
  { pattern: /[-@](?:latest|default)$/i, to: "", example: ["claude-sonnet-4-5-latest", "claude-sonnet-4-5"] },
  // The catalogue lists some of OpenRouter's models a second time, without the vendor.
  {
    of: ["openrouter"],
    pattern: /^(?:anthropic|openai|google|x-ai|mistralai|deepseek|meta-llama|qwen)\//i,
    to: "",
    example: ["x-ai/grok-3", "grok-3"],
  },
  // The vendor of open weights as a prefix, where the catalogue has none for this provider, and the other way round.
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

/** A provider id and a model name to look up in the catalogue. */
export type Candidate = { provider: string; model: string };

/**
 * The names to look up for a model: the given name, then the result of each rule that applies. If a name shows another provider than
 * the client named, only the names of that provider are returned.
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
