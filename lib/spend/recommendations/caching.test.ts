import { expect, test } from "vitest";
import { leastCacheablePrompt } from "./caching";

test.each([
  ["claude-sonnet-4-5-20250929", 1024],
  ["claude-sonnet-4-20250514", 1024],
  ["claude-opus-4-20250514", 1024],
  ["anthropic.claude-opus-4-5-20251101-v1:0", 4096],
  ["anthropic/claude-haiku-4.5", 4096],
  ["claude-3-5-haiku-20241022", 2048],
  ["gemini-2.5-flash", 2048],
  ["gemini-3.1-pro-preview", 4096],
  ["gpt-5-mini", 1024],
])("Counts no prompt of %s that is too short for its cache", (model, least) => {
  expect(leastCacheablePrompt(model)).toBe(least);
});
