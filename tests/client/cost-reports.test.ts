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
  expect(await sdks.anthropicInput(simulator.url, "sk-ant-sdk", from, until)).toEqual(
    bill.map(({ day, quantity }) => ({ day, amount: quantity })),
  );
  await expect(sdks.anthropicCosts(simulator.url, "sk-ant-unknown", from, until)).rejects.toThrow(/401/);
});

test("OpenRouter's SDK reads the simulated activity as dollars", async () => {
  const day = new Date(Date.now() - 3 * 86_400_000).toISOString().slice(0, 10);
  simulator.add("sk-or-sdk", [{ ...(bill[0] as TrueLine), day }]);
  expect(await sdks.openrouterActivity(simulator.url, "sk-or-sdk")).toEqual([{ day, amount: 1.25 }]);
  await expect(sdks.openrouterActivity(simulator.url, "sk-or-unknown")).rejects.toThrow(/Incorrect API key/);
});

test("GitHub's SDK reads the simulated reports as dollars, before and after discounts", async () => {
  const [first] = bill as [TrueLine];
  const seat: TrueLine = { ...first, unit: "web_searches", usd: "19" };
  const day = [{ ...first, list: "2" }, { ...first, tier: "batch" as const, usd: "0.04" }, seat];
  const seats = Array.from({ length: 120 }, (_, index) => ({
    email: `${index}@example.com`,
    lastUsed: null,
  }));
  Object.assign(simulator.add("github_pat_sdk", day), { seats });
  const read = await sdks.githubUsage(simulator.url, "github_pat_sdk", "acme", first.day);
  expect(read).toMatchObject({
    credits: [{ sku: "Copilot AI Credits", model: "m", grossAmount: 2, netAmount: 1.25 }],
    requests: [{ sku: "Copilot Premium Request", netAmount: 0.04 }],
    seats: 120,
  });
  expect(new Set(read.all.map(({ sku }: { sku: string }) => sku))).toEqual(
    new Set(["Copilot AI Credits", "Copilot Premium Request", "Copilot Business", "Actions Linux"]),
  );
  const unknown = sdks.githubUsage(simulator.url, "github_pat_unknown", "acme", first.day);
  await expect(unknown).rejects.toThrow(/Incorrect API key/);
});
