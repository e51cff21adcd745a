import { findProvider } from "@pydantic/genai-prices";
import { matchModel } from "@/lib/ledger/pricing/catalogue-match";
import { providerId } from "@/lib/ledger/pricing/names/providers";

/**
 * The catalogue's name of a provider: `openai.responses` → `openai`, `gcp.gen_ai` → `google`. An unknown name is returned in lower case.
 * Without a name, the provider is found by the model; `unknown` if that fails.
 */
export function providerName(reported: string | undefined, model: string | undefined): string {
  if (reported !== undefined && !routers.has(reported)) return providerId(reported) ?? reported.toLowerCase();
  return (model && (findProvider({ modelId: model })?.id ?? makerOf(model))) || "unknown";
}

/** Names of programs that pass calls on to several providers: Copilot, LangChain and Strands. */
const routers = new Set(["github", "langchain", "strands-agents"]);

/** Providers to try for models whose names do not show the provider, such as `text-embedding-3-small`. */
const makers = ["openai", "google", "mistral", "cohere"];

function makerOf(model: string): string | undefined {
  return makers.find((maker) => typeof matchModel(maker, model) === "object");
}

/** A model's name without a context size (`[1m]`) and without its provider's name as a prefix. */
export function modelName(reported: string | undefined, provider: string): string | undefined {
  const name = reported?.replace(/\[[^\]]*\]$/, "");
  const isPrefixed = provider !== "openrouter" && name?.toLowerCase().startsWith(`${provider}/`);
  return (isPrefixed ? name?.slice(provider.length + 1) : name) || undefined;
}
