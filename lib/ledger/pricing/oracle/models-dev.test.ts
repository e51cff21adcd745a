import { describe, expect, test } from "vitest";
import { parseDecimal, toText } from "@/lib/decimal";
import { priceFromCatalogue } from "@/lib/ledger/pricing/catalogue";
import listed from "./models-dev.json";
import explainedDifferences from "./models-dev-differences.json";

/*
 * A third source to compare with: the prices of models.dev of September 2025, by its own names of providers and models. Every amount that
 * differs from the service's, or that the service cannot price, is in models-dev-differences.json under its reason.
 */
const instant = new Date("2025-09-22T12:00:00Z");
const units = ["input", "output", "cache_read", "cache_write"] as const;

/** USD per million tokens; undefined if the usage is unpriced. */
function priceOurs(provider: string, model: string, unit: string): number | undefined {
  const line = {
    provider,
    model,
    unitType: `${unit}_tokens`,
    quantity: parseDecimal(1e6),
    occurredAt: instant,
  };
  const priced = priceFromCatalogue(line);
  return priced.status === "priced" ? Number(toText(priced.amount)) : undefined;
}

function compareAmounts() {
  const counts = { amounts: 0, agree: 0, differ: 0, unpriced: 0 };
  const differences: Record<string, string> = {};
  for (const [provider, models] of Object.entries<Record<string, (number | null)[]>>(listed.models)) {
    for (const [model, prices] of Object.entries(models)) {
      for (const [index, unit] of units.entries()) {
        const theirs = prices[index];
        if (typeof theirs !== "number") continue;
        const ours = priceOurs(provider, model, unit);
        const outcome = ours === undefined ? "unpriced" : Math.abs(ours - theirs) < 1e-9 ? "agree" : "differ";
        counts.amounts++;
        counts[outcome]++;
        if (outcome !== "agree")
          differences[`${provider}/${model} ${unit}`] = `${ours ?? outcome} / ${theirs}`;
      }
    }
  }
  return { counts, differences };
}

describe("The prices of models.dev of September 2025", () => {
  const { counts, differences } = compareAmounts();

  test("Agree with ours, or the difference is known and explained", () => {
    const groups: { why: string; differences: Record<string, string> }[] = explainedDifferences;
    expect(differences).toEqual(Object.assign({}, ...groups.map((group) => group.differences)));
  });

  test("Leave few amounts unpriced", () => {
    expect(counts).toEqual({ amounts: 767, agree: 629, differ: 94, unpriced: 44 });
  });
});
