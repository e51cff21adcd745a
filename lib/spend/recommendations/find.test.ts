import { expect, test } from "vitest";
import { shippedProviders } from "@/lib/ledger/pricing/first-catalogue";
import snapshot from "@/lib/ledger/pricing/second-catalogue/snapshot.json";
import { smallerModels } from "./smaller-models";
import { priceBands } from "./usage-queries";

test("Groups requests by every size above which a catalogue has another price", async () => {
  const found = new Set<number>();
  const look = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    for (const [name, each] of Object.entries(value)) {
      if (name === "start" && typeof each === "number") found.add(each);
      else look(each);
    }
  };
  look(snapshot.models);
  look(await shippedProviders());
  expect([...found].filter((size) => !priceBands.includes(size))).toEqual([]);
});

test.each([
  ["gpt-4.1", ["gpt-4.1-mini", "gpt-4.1-nano"]],
  ["gpt-4o-2024-08-06", ["gpt-4o-mini", "gpt-4o-nano"]],
  ["gpt-5-mini", ["gpt-5-nano"]],
  ["o3", ["o3-mini", "o3-nano"]],
  [
    "claude-opus-4-5-20251101",
    ["claude-sonnet-4-5-20251101", "claude-sonnet-4-5", "claude-haiku-4-5-20251101", "claude-haiku-4-5"],
  ],
  ["gemini-2.5-flash", ["gemini-2.5-flash-lite"]],
  ["gemini-2.5-flash-lite", []],
  ["mistral-large-latest", ["mistral-medium-latest", "mistral-small-latest"]],
  ["text-embedding-3-small", []],
  ["gpt-4o-mini-tts", []],
  ["gemini-2.5-flash-image", ["gemini-2.5-flash-lite-image"]],
])("Names the smaller models of %s", (model, expected) => {
  expect(smallerModels(model)).toEqual(expected);
});
