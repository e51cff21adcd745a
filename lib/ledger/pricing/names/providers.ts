/*
 * The names of providers, in lower case with `-` for every `.`, `_`, `/` and space, so that `gcp.gen_ai` is `gcp-gen-ai`. They
 * are the values of `gen_ai.system` and `gen_ai.provider.name` of OpenTelemetry's conventions, the provider names of the AI
 * SDK, LiteLLM, models.dev and OpenInference, and the vendors' own spellings.
 */
const names: Record<string, readonly string[]> = {
  openai: ["text-completion-openai", "openai-codex", "codex", "chatgpt"],
  anthropic: ["claude", "anthropic-ai"],
  google: [
    "gcp-gen-ai",
    "gcp-gemini",
    "gcp-vertex-ai",
    "gemini",
    "google-ai",
    "google-ai-studio",
    "google-gemini",
    "google-genai",
    "google-generative-ai",
    "google-vertex",
    "google-vertex-ai",
    "google-vertex-anthropic",
    "vertex",
    "vertex-ai",
    "vertexai",
    "vertex-anthropic",
  ],
  azure: [
    "azure-ai",
    "azure-ai-inference",
    "azure-ai-openai",
    "azure-ai-foundry",
    "azure-openai",
    "az-ai-openai",
    "az-ai-inference",
  ],
  aws: ["amazon", "amazon-bedrock", "aws-bedrock", "aws-bedrock-runtime", "bedrock", "bedrock-converse"],
  "x-ai": ["xai", "grok"],
  mistral: ["mistral-ai", "mistralai", "codestral"],
  moonshotai: ["moonshot", "moonshot-ai", "kimi"],
  deepseek: ["deepseek-ai"],
  cohere: ["cohere-chat", "cohere-ai"],
  perplexity: ["perplexity-ai", "pplx"],
  groq: ["groqcloud"],
  cerebras: ["cerebras-ai"],
  together: ["together-ai", "togetherai"],
  fireworks: ["fireworks-ai", "fireworksai"],
  openrouter: ["open-router", "openrouter-ai"],
  zai: ["z-ai"],
  zhipuai: ["zhipu", "zhipu-ai", "bigmodel"],
  minimax: ["minimax-ai"],
  voyageai: ["voyage", "voyage-ai"],
  alibaba: ["dashscope", "alibaba-cloud", "aliyun"],
  deepinfra: ["deep-infra"],
  novita: ["novita-ai"],
  nebius: ["nebius-ai"],
  sambanova: ["sambanova-ai"],
  "github-copilot": ["copilot", "github-models"],
};

/** Gateways that charge the list price of the provider that the model's name begins with, as in `anthropic/claude-sonnet-4-5`. */
const gateways = new Set(["gateway", "litellm", "litellm-proxy", "portkey", "vercel", "vercel-ai-gateway"]);

/** The suffixes with which SDKs name the API that they called. */
const interfaces = /-(?:chat|responses|messages|completions?|embeddings?|image|speech|transcription)$/;

const ids = new Map<string, string>();
for (const [id, spellings] of Object.entries(names)) for (const name of [id, ...spellings]) ids.set(name, id);

const dashed = (spelling: string) =>
  spelling
    .trim()
    .toLowerCase()
    .replace(/[\s._/]+/g, "-");

/** The catalogue's id of a provider as clients spell it; undefined for a name that is not in the table. */
export function providerId(spelling: string): string | undefined {
  const name = dashed(spelling);
  return ids.get(name) ?? ids.get(name.replace(interfaces, ""));
}

/** Whether a name is that of a gateway that charges each provider's list price. */
export function isGateway(spelling: string): boolean {
  return gateways.has(dashed(spelling));
}

/** Every name in the table with its id. */
export function allProviderNames(): [name: string, id: string][] {
  return [...ids];
}
