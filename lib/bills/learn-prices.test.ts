import { expect, test } from "vitest";
import { parseDecimal, toText } from "@/lib/decimal";
import { learnPrices } from "./learn-prices";
import { reconcileProvider } from "./match";
import type { BilledFact } from "./statements";

type Line = { day: string; quantity: number; billed: string; recorded: string };

/** What is learned of days with one unit of one model. */
function learn(lines: Line[], more: Partial<BilledFact> = {}, isGiven = false) {
  const of = { model: "gpt-5", unit: "input_tokens", tier: null };
  const periods = lines.map(({ day, quantity, billed }) => ({
    ...{
      provider: "openai",
      from: `2026-10-${day}`,
      until: `2026-10-${String(Number(day) + 1).padStart(2, "0")}`,
    },
    facts: [
      {
        ...{ ...of, line: null, key: null, list: null },
        ...{ amount: parseDecimal(billed), quantity: parseDecimal(quantity), ...more },
      },
    ],
  }));
  const rows = lines.map(({ day, quantity, recorded }) => ({
    ...{ ...of, provider: "openai", day: `2026-10-${day}`, isUnpriced: false, isGiven },
    ...{ amount: parseDecimal(recorded), quantity: parseDecimal(quantity) },
  }));
  const cells = reconcileProvider("openai", periods, rows, []);
  return learnPrices(cells, new Map([["openai", "OpenAI"]])).map(
    ({ provider, rate, recordedRate, from, before, after }) => ({
      ...{ provider, from, rate: toText(rate), recordedRate: recordedRate && toText(recordedRate) },
      ...{ before: toText(before), after: toText(after) },
    }),
  );
}

const priced = { recordedRate: "0.00000125", provider: "OpenAI" };

test("A negotiated price is learned from the day on which it begins, with what it changes", () => {
  const lines = [
    { day: "05", quantity: 1_000_000, billed: "1.25", recorded: "1.25" },
    { day: "06", quantity: 1_000_000, billed: "1.0625", recorded: "1.25" },
    { day: "07", quantity: 3_000_001, billed: "3.1875010625", recorded: "3.75000125" },
  ];
  expect(learn(lines)).toEqual([
    {
      ...{ ...priced, from: "2026-10-06", rate: "0.0000010625" },
      ...{ before: "5.00000125", after: "4.2500010625" },
    },
  ]);
});

test("A price is learned of amounts that the bill rounds to cents, and not of amounts so small that they leave it open", () => {
  const rounded = [
    { day: "05", quantity: 123_456_789, billed: "98.77", recorded: "154.32098625" },
    { day: "06", quantity: 77_654_321, billed: "62.12", recorded: "97.06790125" },
  ];
  expect(learn(rounded)).toMatchObject([{ ...priced, rate: "0.0000008", from: "2026-10-05" }]);
  expect(learn([{ day: "05", quantity: 20_000, billed: "0.02", recorded: "0.025" }])).toEqual([]);
});

test("No price is learned where it is the recorded one, of units in tiers, and of costs that clients sent", () => {
  const line = { day: "05", quantity: 1_000_000, billed: "1", recorded: "1.25" };
  expect(learn([{ ...line, billed: "1.25" }])).toEqual([]);
  expect(learn([line], { tier: "batch" })).toEqual([]);
  expect(learn([line], {}, true)).toEqual([]);
});
