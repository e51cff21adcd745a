import { afterAll, beforeAll, expect, test } from "vitest";
import { parseDecimal, shiftDecimal, toText } from "@/lib/decimal";
import {
  type Simulator,
  simulateProviders,
  type TrueLine,
} from "@/tests/providers/simulator/simulate-providers";
import { loadCalls } from "./recorded-calls";

// The simulator that tests of bills pull from answers as the providers do: their own SDKs read it.

let simulator: Simulator;
// biome-ignore lint/suspicious/noExplicitAny: it has other types than ours; its own tsconfig.json checks it.
let sdks: any;
beforeAll(async () => {
  simulator = await simulateProviders();
  sdks = await loadCalls("cost-reports");
});
afterAll(() => simulator.close());

const [from, until] = ["2026-10-01", "2026-10-09"];
const bill: TrueLine[] = Array.from({ length: 8 }, (_, index) => ({
  ...{ day: `2026-10-0${index + 1}`, model: "m", unit: "input_tokens", key: "k", quantity: 1_000 },
  usd: `${index + 1}.25`,
}));

test("OpenAI's SDK reads the simulated costs as dollars, over several pages", async () => {
  simulator.add("sk-admin-sdk", bill);
  expect(await sdks.openaiCosts(simulator.url, "sk-admin-sdk", from, until)).toEqual(
    bill.map(({ day, usd }) => ({ day, amount: Number(usd) })),
  );
  await expect(sdks.openaiCosts(simulator.url, "sk-admin-unknown", from, until)).rejects.toThrow(/401/);
});

test("Anthropic's SDK reads the simulated costs as text of cents, over several pages", async () => {
  simulator.add("sk-ant-sdk", bill);
  expect(await sdks.anthropicCosts(simulator.url, "sk-ant-sdk", from, until)).toEqual(
    bill.map(({ day, usd }) => ({ day, amount: toText(shiftDecimal(parseDecimal(usd), 2)) })),
  );
  await expect(sdks.anthropicCosts(simulator.url, "sk-ant-unknown", from, until)).rejects.toThrow(/401/);
});
