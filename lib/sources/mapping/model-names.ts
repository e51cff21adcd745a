import { findProvider } from "@pydantic/genai-prices";
import { matchModel } from "@/lib/ledger/pricing/catalogue-match";
import { providerId } from "@/lib/ledger/pricing/names/providers";

/**
 * A provider's name as the price list has it: `openai.responses` → `openai`, `gcp.gen_ai` → `google`; one that it does not
 * know, as it was told. Without one, the provider whose model it is; `unknown` where nobody knows.
 */
export function providerName(told: string | undefined, model: string | undefined): string {
  if (told !== undefined && !routers.has(told)) return providerId(told) ?? told.toLowerCase();
  return (model && (findProvider({ modelId: model })?.id ?? makerOf(model))) || "unknown";
}

/** Names that say who passed a call on: those of Copilot, LangChain and Strands are for models of several makers. */
const routers = new Set(["github", "langchain", "strands-agents"]);

/** Who make models whose names alone do not show it, such as `text-embedding-3-small`. */
const makers = ["openai", "google", "mistral", "cohere"];

function makerOf(model: string): string | undefined {
  return makers.find((maker) => typeof matchModel(maker, model) === "object");
}

/** A model's name without a context size (`[1m]`) and without its provider's name in front. */
export function modelName(told: string | undefined, provider: string): string | undefined {
  const name = told?.replace(/\[[^\]]*\]$/, "");
  const isPrefixed = provider !== "openrouter" && name?.toLowerCase().startsWith(`${provider}/`);
  return (isPrefixed ? name?.slice(provider.length + 1) : name) || undefined;
}
