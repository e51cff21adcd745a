import { expect, test } from "vitest";
import { subtractExact, sumExact } from "@/components/figures/exact";
import { formatDigits } from "@/components/figures/format-count";
import { ExactNumber } from "@/lib/contract/values/exact-number";
import { formatEquation } from "./equation";
import { type ActivityItem, type ActivityPage, appendPage, mergePages, rowKey } from "./row";

const page = (ids: string[], nextCursor: string | null = null): ActivityPage => ({
  items: ids.map((id) => ({ id, part: 0 }) as ActivityItem),
  nextCursor,
  removedBefore: null,
});
const idsOf = ({ items }: ActivityPage) => items.map(({ id }) => id);

test("Sums without losing a digit, for any size and sign", () => {
  expect(sumExact(["0.1", "0.2"])).toBe("0.3");
  expect(sumExact(["999999999999999.999999999999999999", "0.000000000000000001"])).toBe("1000000000000000");
  expect(sumExact(["2.5", "-2.500000000000000001"])).toBe("-0.000000000000000001");
  expect(sumExact([])).toBe("0");
  expect(subtractExact("1200", "0.75")).toBe("1199.25");
  expect(formatDigits("1234567.0001")).toBe("1,234,567.0001");
});

test("Shows every digit of the factors in an equation", () => {
  const usage = { cost_status: "priced" as const, quantity: 1200, price: { rate: 0.0000025, per: 1 } };
  expect(formatEquation({ ...usage, amount_usd: 0.003 })).toBe("1,200 × $0.0000025 = $0.003");
  expect(
    formatEquation({
      ...usage,
      amount_usd: new ExactNumber("0.00275"),
      price: { rate: 0.0000025, per: 1, cached: { rate: "0.00000125", per: 1, quantity: "200" } },
    }),
  ).toBe("1,000 × $0.0000025 + 200 × $0.00000125 = $0.00275");
  expect(formatEquation({ ...usage, amount_usd: 0.12, price: { rate: 0.36, per: 3600 } })).toBe(
    "1,200 × $0.36 ÷ 3,600 = $0.12",
  );
  expect(
    formatEquation({
      cost_status: "converted",
      amount_usd: 90.93,
      quantity: null,
      currency: "EUR",
      original_amount: 84,
      price: { rate: 1.0825 },
    }),
  ).toBe("84 EUR × $1.0825 = $90.93");
  expect(formatEquation({ cost_status: "client", amount_usd: 1, quantity: 5, price: null })).toBeUndefined();
});

test("Puts a refreshed first page above the rows shown, without duplicates or losses", () => {
  const shown = page(["c", "b", "a"], "behind a");
  expect(mergePages(shown, page(["e", "d", "c"], "behind c"))).toEqual(
    page(["e", "d", "c", "b", "a"], "behind a"),
  );
  expect(idsOf(mergePages(shown, page(["c", "b", "a"], null)))).toEqual(["c", "b", "a"]);
});

test("Starts over when the list fell behind by more than a page, instead of hiding a gap", () => {
  const fresh = page(["z", "y"], "behind y");
  expect(mergePages(page(["c", "b"], "behind b"), fresh)).toEqual(fresh);
});

test("Does not add rows of the next page that are already shown", () => {
  const shown = appendPage(page(["c", "b"], "behind b"), page(["b", "a"]));
  expect(idsOf(shown)).toEqual(["c", "b", "a"]);
  expect(shown.nextCursor).toBeNull();
  expect(rowKey({ id: "a", part: 1 })).not.toBe(rowKey({ id: "a", part: 0 }));
});
