import { findProvider } from "@pydantic/genai-prices";

/** What emitters call a provider, as the price list names it. The part after a dot is its interface, not the provider. */
const providers: Readonly<Record<string, string>> = {
  "gcp.gemini": "google",
  "gcp.gen_ai": "google",
  "gcp.vertex_ai": "google",
  gemini: "google",
  vertex: "google",
  vertexai: "google",
  "azure.ai.openai": "azure",
  "azure.ai.inference": "azure",
  az: "azure",
  "azure-openai": "azure",
  "aws.bedrock": "aws",
  bedrock: "aws",
  "amazon-bedrock": "aws",
  x_ai: "x-ai",
  xai: "x-ai",
  mistral_ai: "mistral",
  mistralai: "mistral",
  moonshot_ai: "moonshotai",
  "ibm.watsonx.ai": "watsonx",
};

/**
 * A provider's name as the price list has it: `openai.responses` → `openai`, `gcp.gen_ai` → `google`. Without one, the
 * provider whose model it is; `unknown` where nobody knows.
 */
export function providerName(told: string | undefined, model: string | undefined): string {
  const name = told?.toLowerCase();
  if (name === undefined) return (model && findProvider({ modelId: model })?.id) || "unknown";
  return providers[name] ?? providers[name.split(".", 1)[0] ?? ""] ?? (name.split(".", 1)[0] || name);
}

/** A model's name without what is not part of it: the size of the context (`[1m]`), and its provider's name before it. */
export function modelName(told: string | undefined, provider: string): string | undefined {
  const name = told?.replace(/\[[^\]]*\]$/, "");
  const prefix = `${provider}/`;
  const bare =
    name?.toLowerCase().startsWith(prefix) && provider !== "openrouter" ? name.slice(prefix.length) : name;
  return bare === "" ? undefined : bare;
}
