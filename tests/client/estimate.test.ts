import { expect, test } from "vitest";
import { mostOutputOf, toMostUsage } from "@/packages/client/src/estimate";

const asked = {
  ...{ provider: "openai", model: "gpt-4o", tier: undefined, hasOutput: true },
  ...{ request: { messages: [{ role: "user", content: "x".repeat(1000) }] }, mostOutput: 100 },
};
/** The lines of the reservation, by unit. */
const linesOf = (...args: Parameters<typeof toMostUsage>) =>
  Object.fromEntries(
    (toMostUsage(...args)?.lines ?? []).map(({ unit_type, quantity }) => [unit_type, quantity]),
  );

test("Reserves half the bytes of the request as input, and the output that the request allows", () => {
  const { input_tokens: input = 0, output_tokens: output } = linesOf(asked, {}, undefined, 8192);
  expect([input > 500 && input < 530, output]).toEqual([true, 100]);
  const asian = linesOf({ ...asked, request: "東".repeat(1000) }, {}, undefined, 8192);
  expect(asian.input_tokens).toBe(1501);
  expect(linesOf({ ...asked, mostOutput: undefined }, {}, undefined, 8192).output_tokens).toBe(8192);
  expect(linesOf({ ...asked, hasOutput: false }, {}, undefined, 8192)).toEqual({ input_tokens: input });
});

test.each([
  [{ max_tokens: 100 }, 100],
  [{ max_completion_tokens: 100, max_tokens: 7, n: 3 }, 300],
  [{ max_output_tokens: 100 }, 100],
  [{ max_output_tokens: null }, undefined],
  [undefined, undefined],
])("Reads the most output tokens of %j", (body, most) => {
  expect(mostOutputOf(body)).toBe(most);
});

test.each([
  { type: "image_url", image_url: { url: `data:image/png;base64,${"A".repeat(90_000)}` } },
  { type: "input_image", image_url: `data:image/png;base64,${"A".repeat(90_000)}` },
  { type: "image", source: { type: "base64", media_type: "image/png", data: "A".repeat(90_000) } },
  { type: "file", mediaType: "image/png", data: Buffer.alloc(90_000) },
])("Counts an image as 5,000 tokens, however many bytes it has ($type)", (image) => {
  const { input_tokens: input = 0 } = linesOf(
    { ...asked, request: { messages: [image] } },
    {},
    undefined,
    8192,
  );
  expect(input).toBeGreaterThan(5000);
  expect(input).toBeLessThan(5020);
});

test("Counts the bytes of another file", () => {
  const file = { type: "file", mediaType: "application/pdf", data: Buffer.alloc(90_000) };
  expect(linesOf({ ...asked, request: [file] }, {}, undefined, 8192).input_tokens).toBeGreaterThan(45_000);
});

test("Reserves what Anthropic bills for writing to its cache", () => {
  const request = (ttl?: string) => ({
    messages: [{ content: "x", cache_control: { type: "ephemeral", ttl } }],
  });
  const claude = { ...asked, provider: "anthropic" };
  expect(linesOf({ ...claude, request: request() }, {}, undefined, 1)).toHaveProperty(
    "cache_write_5m_tokens",
  );
  expect(linesOf({ ...claude, request: request("1h") }, {}, undefined, 1)).toHaveProperty(
    "cache_write_1h_tokens",
  );
  expect(linesOf({ ...asked, request: request() }, {}, undefined, 1)).toHaveProperty("input_tokens");
});

test("Takes the caller's figures instead, in part or whole", () => {
  expect(linesOf(asked, {}, { inputTokens: 7 }, 8192)).toEqual({ input_tokens: 7, output_tokens: 100 });
  expect(linesOf(asked, {}, { inputTokens: 7, outputTokens: 9 }, 8192)).toEqual({
    input_tokens: 7,
    output_tokens: 9,
  });
  expect(toMostUsage(asked, { feature: "search", provider: "azure" }, { usd: 0.5 }, 8192)).toMatchObject({
    ...{ provider: "azure", feature: "search", unit_type: "requests", quantity: 1, estimated_cost: 0.5 },
  });
  expect(toMostUsage(asked, {}, null, 8192)).toBeUndefined();
});
