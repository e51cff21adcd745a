import { calcPrice } from "@pydantic/genai-prices";
import { describe, expect, test, vi } from "vitest";
import { allUnits, findUnit, unitName } from "./units";

describe("Unit names", () => {
  test.each([
    ["input_tokens", "input_tokens"],
    ["inputTokens", "input_tokens"],
    ["InputToken", "input_tokens"],
    ["INPUT_TOKENS", "input_tokens"],
    ["input-tokens", "input_tokens"],
    [" input token ", "input_tokens"],
    ["prompt_tokens", "input_tokens"],
    ["promptTokens", "input_tokens"],
    ["completion_token", "output_tokens"],
    ["completionTokens", "output_tokens"],
    ["cached_tokens", "cache_read_tokens"],
    ["cachedInputTokens", "cache_read_tokens"],
    ["cache_read_input_tokens", "cache_read_tokens"],
    ["input_tokens_details.cached_tokens", "cache_read_tokens"],
    ["cacheReadTokens", "cache_read_tokens"],
    ["cache_creation_input_tokens", "cache_write_tokens"],
    ["cacheWrite5mTokens", "cache_write_5m_tokens"],
    ["ephemeral_1h_input_tokens", "cache_write_1h_tokens"],
    ["reasoningTokens", "output_reasoning_tokens"],
    ["audio_input_tokens", "input_audio_tokens"],
    ["imageOutputTokens", "output_image_tokens"],
    ["request", "requests"],
    ["api_calls", "requests"],
    ["web_search", "web_searches"],
    ["webSearches", "web_searches"],
    ["audio_minute", "audio_minutes"],
    ["characters", "input_characters"],
  ])("Read %s as %s", (spelling, unit) => {
    expect(findUnit(spelling)?.unit).toBe(unit);
  });

  test.each([
    "tokens",
    "total_tokens",
    "audio_tokens",
    "images",
    "seats",
    "",
    "s",
    "__proto__",
    "constructor",
    "x".repeat(500),
  ])("Refuse %s as a unit of the catalogue", (spelling) => {
    expect(findUnit(spelling)).toBeUndefined();
  });

  test("Compare unknown units without regard to case and surrounding spaces", () => {
    expect(unitName(" GPU_Hours ")).toBe("gpu_hours");
  });
});

/** The other price keys that a table must have for the catalogue to accept a unit's price. */
const companions = ["input_mtok", "output_mtok", "cache_read_mtok", "cache_write_mtok"].concat(
  "audio_hours",
  "input_document_kpages",
);

describe("The unit table and the catalogue's own calculator", () => {
  // The first catalogue does not have OpenAI's writes for 12 hours.
  const known = allUnits().filter(({ unit }) => unit !== "cache_write_12h_tokens");

  test.each(known.map((unit) => [unit.unit, unit] as const))("%s", (name, unit) => {
    const warn = vi.spyOn(console, "warn").mockReturnValue();
    const isTime = /_(seconds|minutes|hours)$/.test(name);
    const usageKey = isTime ? name.replace(/_(minutes|hours)$/, "_seconds") : name;
    const quantity = isTime ? 3600 : unit.per;
    const modality = /audio|image|video|text/.exec(name)?.[0];
    const keys = new Set([...companions, unit.priceKey]);
    if (name.startsWith("cache") && modality)
      keys.add(`input_${modality}_mtok`).add(`cache_${modality}_write_mtok`);
    if (name.startsWith("cache") && modality) keys.add(`cache_${modality}_read_mtok`);
    if (name.startsWith("input") && modality && name.endsWith("_tokens"))
      keys.add(`cache_${modality}_read_mtok`).add(`cache_${modality}_write_mtok`);
    const prices = Object.fromEntries([...keys].map((key) => [key, key === unit.priceKey ? 7 : 0]));
    const model = { id: "m", match: { equals: "m" }, prices };
    const provider = { id: "p", name: "p", api_pattern: "p", models: [model] };
    // A special kind of token is part of a total, which the calculator needs, too.
    const totals = usageKey.endsWith("_tokens")
      ? { [name.startsWith("output") ? "output_tokens" : "input_tokens"]: quantity }
      : {};
    const parents = Object.fromEntries(parentsOf(usageKey).map((key) => [key, quantity]));
    const usage = name === "requests" ? {} : { ...totals, ...parents, [usageKey]: quantity };
    const total = calcPrice(usage, "m", { provider })?.total_price;
    expect(warn).not.toHaveBeenCalled();
    expect(total).toBeCloseTo(name === "requests" ? 7 / 1000 : 7, 12);
    warn.mockRestore();
  });
});

function parentsOf(key: string): string[] {
  const cache = /^cache_(audio|image)_(read)_tokens$/.exec(key);
  if (cache) return [`input_${cache[1]}_tokens`, "cache_read_tokens"];
  if (/^cache_write_.+_tokens$/.test(key)) return ["cache_write_tokens"];
  if (/^(input|output)_audio_seconds$/.test(key)) return ["audio_seconds"];
  if (key === "input_annotated_document_pages") return ["input_document_pages"];
  return [];
}
