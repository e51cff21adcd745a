import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  compare,
  type Decimal,
  multiply,
  parseDecimal,
  roundTo,
  subtract,
  sum,
  toText,
  zero,
} from "@/lib/decimal";
import type { RecordedUse } from "./explain";
import { type RecordedRow, type RefusedRow, reconcileProvider, sumCells } from "./match";
import type { Dollars } from "./money";
import { type BilledRow, toStatements } from "./statements";

/** A true use of a provider: what it cost there, and how it is told here. */
type Use = {
  day: string;
  model: string;
  unit: string;
  tier: string | null;
  quantity: number;
  /** Millionths of a dollar for one unit, by the price list. */
  rate: number;
  fate: "told" | "untold" | "unpriced" | "other price" | "other tier" | "told twice" | "not billed";
};

const use: fc.Arbitrary<Use> = fc.record({
  day: fc.constantFrom("2026-10-01", "2026-10-02", "2026-10-03"),
  model: fc.constantFrom("gpt-5", "gpt-5-mini", "o3-2025-04-16"),
  unit: fc.constantFrom("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_1h_tokens"),
  tier: fc.constantFrom(null, "batch", "flex"),
  quantity: fc.integer({ min: 1, max: 5_000_000 }),
  rate: fc.integer({ min: 1, max: 90 }),
  fate: fc.constantFrom(
    "told",
    "untold",
    "unpriced",
    "other price",
    "other tier",
    "told twice",
    "not billed",
  ),
});

const usd = (quantity: number, rate: number) => multiply(parseDecimal(quantity), parseDecimal(`${rate}e-6`));

/** @param discount what the provider takes off, in percent. @param decimals to how many it rounds its rows */
function billOf(uses: readonly Use[], discount: number, decimals: number): BilledRow[] {
  return uses
    .filter(({ fate }) => fate !== "not billed")
    .map(({ day, model, unit, tier, quantity, rate }) => {
      const list = usd(quantity, rate);
      const net = multiply(list, parseDecimal(`${100 - discount}e-2`));
      return {
        ...{ provider: "openai", account: "", from: day, until: `${day.slice(0, 9)}${Number(day[9]) + 1}` },
        ...{ line: null, model, unit, tier, key: null, user: null },
        amount: roundTo(net, decimals, "nearest") as Dollars,
        list: discount === 0 ? null : roundTo(list, decimals, "nearest"),
        quantity: parseDecimal(quantity),
      };
    });
}

function recordsOf(uses: readonly Use[]): RecordedRow[] {
  return uses.flatMap(({ day, model, unit, tier, quantity, rate, fate }): RecordedRow[] => {
    if (fate === "untold") return [];
    const row = {
      ...{ provider: "openai", day, model, unit, isUnpriced: fate === "unpriced" },
      tier: fate === "other tier" ? "priority" : tier,
      amount:
        fate === "unpriced"
          ? zero
          : usd(quantity, fate === "other price" ? rate * 2 : fate === "other tier" ? rate * 3 : rate),
      quantity: parseDecimal(quantity),
    };
    return fate === "told twice" ? [row, row] : [row];
  });
}

const differenceOf = (parts: { billed: Decimal; recorded: Decimal }) =>
  subtract(parts.billed, parts.recorded);
const sumOfParts = (parts: ReadonlyMap<string, Decimal>) => toText(sum(parts.values()));
const totalOf = (rows: readonly Pick<RecordedUse, "amount">[]) =>
  toText(sum(rows.map(({ amount }) => amount)));

const reconcile = (
  bill: readonly BilledRow[],
  records: readonly RecordedRow[],
  refused: readonly RefusedRow[] = [],
) =>
  reconcileProvider(
    "openai",
    toStatements(bill).map(({ provider, from, until, facts }) => ({ provider, from, until, facts })),
    records,
    refused,
  );

/** What limits refused of uses: a share of each that nobody told, and of others as well. */
const refusedOf = (uses: readonly Use[], percent: number): RefusedRow[] =>
  uses.map(({ day, model, quantity, rate }) => ({
    ...{ provider: "openai", day, model },
    amount: multiply(usd(quantity, rate), parseDecimal(`${percent}e-2`)),
  }));

describe("The parts of a difference", () => {
  test("sum to it exactly in every cell and in all, and the cells to what was billed and recorded", () => {
    fc.assert(
      fc.property(
        fc.array(use, { maxLength: 40 }),
        fc.integer({ min: 0, max: 30 }),
        fc.integer({ min: 2, max: 10 }),
        fc.array(fc.constantFrom("quantity", "model", "unit"), { maxLength: 2 }),
        fc.integer({ min: 0, max: 150 }),
        (uses, discount, decimals, missing, percent) => {
          const bill = billOf(uses, discount, decimals).map((row, index) => ({
            ...row,
            ...(missing.includes("quantity") && index % 2 === 0 && { quantity: null }),
            ...(missing.includes("model") && { model: null }),
            ...(missing.includes("unit") && index % 3 === 0 && { unit: null }),
          }));
          const records = recordsOf(uses);
          const cells = reconcile(bill, records, refusedOf(uses, percent));
          const without = reconcile(bill, records);
          for (const [index, cell] of cells.entries()) {
            expect(sumOfParts(cell.parts)).toBe(toText(differenceOf(cell)));
            const missing = (part: "no_source" | "unexplained") => {
              const amount = without[index]?.parts.get(part) ?? zero;
              return compare(amount, zero) > 0 ? amount : zero;
            };
            const refused = cell.parts.get("refused") ?? zero;
            expect(compare(refused, zero)).toBeGreaterThanOrEqual(0);
            expect(compare(refused, sum([missing("no_source"), missing("unexplained")]))).toBeLessThanOrEqual(
              0,
            );
          }
          const all = sumCells(cells);
          expect(sumOfParts(all.parts)).toBe(toText(differenceOf(all)));
          expect(toText(all.billed)).toBe(totalOf(bill));
          expect(toText(all.recorded)).toBe(totalOf(records));
        },
      ),
    );
  });

  test("are none where everything was told and priced right, and rounding alone where the provider rounds", () => {
    const priced = fc.array(use, { minLength: 1, maxLength: 30 }).map((uses) =>
      uses.map((one) => {
        // One price for each model, unit and tier, as a price list has.
        const rate =
          [...`${one.model}${one.unit}${one.tier}`].reduce(
            (hash, letter) => (hash * 31 + letter.charCodeAt(0)) % 89,
            7,
          ) + 1;
        return { ...one, rate, fate: "told" as const };
      }),
    );
    fc.assert(
      fc.property(priced, fc.integer({ min: 0, max: 1 }), (uses, isRounded) => {
        const decimals = isRounded ? 2 : 12;
        // A provider rounds its lines: one for each day, model, unit and tier.
        const lines = toStatements(billOf(uses, 0, 12)).flatMap(({ provider, account, from, until, facts }) =>
          facts.map((fact) => ({
            ...{ provider, account, from, until },
            ...fact,
            amount: roundTo(fact.amount, decimals, "nearest") as Dollars,
          })),
        );
        const all = sumCells(reconcile(lines, recordsOf(uses)));
        expect([...all.parts.keys()].filter((part) => part !== "rounding")).toEqual([]);
        if (!isRounded) expect(toText(differenceOf(all))).toBe("0");
        expect(compare(all.billedUnits, all.recordedUnits)).toBe(0);
      }),
    );
  });
});

/** The parts of one use with a fate of its own, beside one that is told. */
function partsOf(
  fate: Use["fate"],
  discount = 0,
  more: Partial<Use> & { refused?: RefusedRow[] } = {},
): Record<string, string> {
  const told: Use = {
    ...{ day: "2026-10-01", model: "gpt-5", unit: "input_tokens", tier: null, quantity: 1_000_000, rate: 2 },
    fate: "told",
  };
  const uses: Use[] = [told, { ...told, unit: "output_tokens", rate: 10, ...more, fate }];
  const { parts } = sumCells(reconcile(billOf(uses, discount, 12), recordsOf(uses), more.refused));
  return Object.fromEntries([...parts].map(([part, amount]) => [part, toText(amount)]));
}

/** What limits refused on a day, USD. */
const refusal = (amount: string, more: Partial<RefusedRow> = {}): { refused: RefusedRow[] } => ({
  refused: [{ provider: "openai", day: "2026-10-01", model: "gpt-5", amount: parseDecimal(amount), ...more }],
});

describe("A difference is named by its cause, with its exact amount", () => {
  test.each([
    ["no_source", { no_source: "10" }, partsOf("untold")],
    ["refused, of all that was untold", { refused: "10" }, partsOf("untold", 0, refusal("12"))],
    ["refused, of a part", { refused: "4", no_source: "6" }, partsOf("untold", 0, refusal("4"))],
    [
      "no_source, where another model was refused",
      { no_source: "10" },
      partsOf("untold", 0, refusal("4", { model: "o3" })),
    ],
    [
      "no_source, where it was refused on another day",
      { no_source: "10" },
      partsOf("untold", 0, refusal("4", { day: "2026-10-02" })),
    ],
    ["nothing, where all was recorded in spite of it", {}, partsOf("told", 0, refusal("4"))],
    ["unpriced", { unpriced: "10" }, partsOf("unpriced")],
    ["price", { price: "-10" }, partsOf("other price")],
    ["tier", { tier: "-20" }, partsOf("other tier", 0, { tier: "batch" })],
    ["beyond_bill, of what was told twice", { beyond_bill: "-10" }, partsOf("told twice")],
    ["beyond_bill, of what was not billed", { beyond_bill: "-10" }, partsOf("not billed")],
    ["discount", { discount: "-1.2" }, partsOf("told", 10)],
    ["not_billed_yet", { not_billed_yet: "-10" }, partsOf("not billed", 0, { day: "2026-10-02" })],
    ["no_telemetry", { no_telemetry: "10" }, partsOf("untold", 0, { unit: "web_searches" })],
    ["no_source, of tokens that were told in part", { no_source: "5" }, partlyTold()],
  ])("%s", (_, expected, found) => {
    expect(found).toEqual(expected);
  });

  function partlyTold() {
    const half: Use = {
      ...{
        day: "2026-10-01",
        model: "gpt-5",
        unit: "input_tokens",
        tier: null,
        quantity: 1_000_000,
        rate: 5,
      },
      fate: "told",
    };
    const { parts } = sumCells(reconcile(billOf([half, half], 0, 12), recordsOf([half])));
    return Object.fromEntries([...parts].map(([part, amount]) => [part, toText(amount)]));
  }
});
