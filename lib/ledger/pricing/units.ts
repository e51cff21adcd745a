/**
 * A unit that a catalogue prices.
 * - `unit`: its canonical name, which is stored and shown.
 * - `priceKey`: the catalogue's name for its price.
 * - `per`: the number of units that the price is for (USD 2.50 per 1e6 tokens). Only prices per hour are not per a power
 *   of ten.
 * - `countsAsInput`: whether its quantity counts as a request's input tokens, which decide the price tier.
 * - `fallback`: the unit whose price applies if a model has no price for this one, because providers bill it as that unit.
 * - `cachedAs`: the unit that prices the cached part of a line of this unit.
 * - `twiceInputOf`: the models whose price for this unit, if no catalogue lists it, is twice their price for input tokens.
 */
export type Unit = {
  unit: string;
  priceKey: string;
  per: number;
  countsAsInput: boolean;
  fallback?: string;
  cachedAs?: string;
  twiceInputOf?: RegExp;
};

type Relations = Pick<Unit, "fallback" | "cachedAs" | "twiceInputOf">;
type Row = [unit: string, priceKey: string, relations?: Relations];

/*
 * Fallbacks follow the catalogue's hierarchy, but only where providers bill that way (the oracle test compares): reasoning is billed as
 * output, text and images as input. Audio and video cost more wherever they have a price, a one-hour cache write costs more than a
 * short one, and a missing cache price may mean free or full price. Units of these kinds have no fallback, so that a missing price stays
 * visible.
 */
const inputTokens: Row[] = [
  ["input_tokens", "input_mtok", { cachedAs: "cache_read_tokens" }],
  ["input_text_tokens", "input_text_mtok", { fallback: "input_tokens", cachedAs: "cache_read_tokens" }],
  [
    "input_image_tokens",
    "input_image_mtok",
    { fallback: "input_tokens", cachedAs: "cache_image_read_tokens" },
  ],
  ["input_video_tokens", "input_video_mtok"],
  ["input_audio_tokens", "input_audio_mtok", { cachedAs: "cache_audio_read_tokens" }],
  ["cache_read_tokens", "cache_read_mtok"],
  ["cache_image_read_tokens", "cache_image_read_mtok", { fallback: "cache_read_tokens" }],
  ["cache_audio_read_tokens", "cache_audio_read_mtok"],
  ["cache_write_tokens", "cache_write_mtok"],
  ["cache_write_5m_tokens", "cache_write_5m_mtok", { fallback: "cache_write_tokens" }],
  // Anthropic's rule for every tier and cloud (platform.claude.com/docs/en/about-claude/pricing, prompt caching).
  ["cache_write_1h_tokens", "cache_write_1h_mtok", { twiceInputOf: /claude/ }],
  ["cache_write_12h_tokens", "cache_write_12h_mtok"],
];
const outputTokens: Row[] = [
  ["output_tokens", "output_mtok"],
  ["output_text_tokens", "output_text_mtok", { fallback: "output_tokens" }],
  ["output_reasoning_tokens", "output_reasoning_mtok", { fallback: "output_tokens" }],
  ["output_citation_tokens", "output_citation_mtok"],
  ["output_audio_tokens", "output_audio_mtok"],
  ["output_image_tokens", "output_image_mtok"],
  ["output_video_tokens", "output_video_mtok"],
];
const counted: Row[] = [
  ["requests", "requests_kcount"],
  ["web_searches", "web_searches_kcount"],
  ["storage_searches", "storage_searches_kcount"],
  ["social_searches", "social_searches_kcount"],
  ["rerank_searches", "rerank_searches_kcount"],
  ["code_executions", "code_executions_kcount"],
  ["input_text_messages", "input_text_messages_kcount"],
  ["input_document_pages", "input_document_kpages"],
  ["input_annotated_document_pages", "input_annotated_document_kpages"],
];
const audioTime = ["audio", "input_audio", "output_audio"] as const;

const units = new Map<string, Unit>();
const register = (per: number, countsAsInput: boolean, rows: Row[]) => {
  for (const [unit, priceKey, relations] of rows)
    units.set(unit, { unit, priceKey, per, countsAsInput, ...relations });
};
register(1e6, true, inputTokens);
register(1e6, false, outputTokens);
register(1e3, false, counted);
register(1e6, false, [["input_characters", "input_mchars"]]);
register(1e9, false, [["input_pixels", "input_gpixels"]]);
for (const [suffix, per] of [
  ["seconds", 3600],
  ["minutes", 60],
  ["hours", 1],
] as const) {
  for (const kind of audioTime) register(per, false, [[`${kind}_${suffix}`, `${kind}_hours`]]);
}

/** Other names that SDKs and providers use, in snake case and plural. */
const aliases: Record<string, string> = {
  prompt_tokens: "input_tokens",
  completion_tokens: "output_tokens",
  input_tokens_details_cached_tokens: "cache_read_tokens",
  cached_tokens: "cache_read_tokens",
  cached_input_tokens: "cache_read_tokens",
  cached_prompt_tokens: "cache_read_tokens",
  cached_content_tokens: "cache_read_tokens",
  cache_hit_tokens: "cache_read_tokens",
  prompt_cache_hit_tokens: "cache_read_tokens",
  cache_read_input_tokens: "cache_read_tokens",
  input_cached_tokens: "cache_read_tokens",
  cached_audio_tokens: "cache_audio_read_tokens",
  cached_image_tokens: "cache_image_read_tokens",
  cache_creation_tokens: "cache_write_tokens",
  cache_creation_input_tokens: "cache_write_tokens",
  cache_write_input_tokens: "cache_write_tokens",
  ephemeral_5m_input_tokens: "cache_write_5m_tokens",
  ephemeral_1h_input_tokens: "cache_write_1h_tokens",
  ttl_30m_tokens: "cache_write_tokens",
  ttl_12h_tokens: "cache_write_12h_tokens",
  reasoning_tokens: "output_reasoning_tokens",
  reasoning_output_tokens: "output_reasoning_tokens",
  thinking_tokens: "output_reasoning_tokens",
  thoughts_tokens: "output_reasoning_tokens",
  citation_tokens: "output_citation_tokens",
  text_input_tokens: "input_text_tokens",
  text_output_tokens: "output_text_tokens",
  audio_input_tokens: "input_audio_tokens",
  audio_output_tokens: "output_audio_tokens",
  image_input_tokens: "input_image_tokens",
  image_output_tokens: "output_image_tokens",
  video_input_tokens: "input_video_tokens",
  video_output_tokens: "output_video_tokens",
  characters: "input_characters",
  pages: "input_document_pages",
  document_pages: "input_document_pages",
  calls: "requests",
  api_calls: "requests",
  api_requests: "requests",
  searches: "web_searches",
  web_search_requests: "web_searches",
  file_searches: "storage_searches",
};

const maxSpellingLength = 64;
const bySpelling = new Map(units);
for (const [alias, name] of Object.entries(aliases)) {
  const unit = units.get(name);
  if (unit) bySpelling.set(alias, unit);
}

/** Normalises a spelling: `inputTokens`, `Input-Token`, `INPUT_TOKENS` → `input_tokens`. */
function normalise(spelling: string): string {
  const snake = spelling
    .trim()
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replace(/([a-z])(\d)/gi, "$1_$2")
    .replace(/[\s.\-/]+/g, "_")
    .toLowerCase();
  if (snake.endsWith("search")) return `${snake}es`;
  return snake.endsWith("s") ? snake : `${snake}s`;
}

/**
 * The unit that a client's `unit_type` means; undefined if the catalogue has no such unit. That is not an error: the message is stored
 * *unpriced*, unless the workspace has a price of its own for that spelling.
 *
 * Ambiguous names (`tokens`, `total_tokens`, `audio_tokens`) are unknown on purpose: input and output have different
 * prices.
 */
export function findUnit(unitType: string): Unit | undefined {
  const exact = bySpelling.get(unitType);
  if (exact || unitType.length > maxSpellingLength) return exact;
  return bySpelling.get(normalise(unitType));
}

/** The name by which prices of a `unit_type` are compared: that of its unit, otherwise the trimmed, lower-case spelling. */
export function unitName(unitType: string): string {
  return findUnit(unitType)?.unit ?? unitType.trim().toLowerCase();
}

/** Every unit that the catalogue can price. */
export function allUnits(): Unit[] {
  return [...units.values()];
}
