import fc from "fast-check";
import { expect, test } from "vitest";
import { sumExact } from "@/components/figures/exact";
import { decimalsThatAddUp } from "./decimals-that-add-up";

test("Shows parts in cents where the rounded parts sum to the rounded whole", () => {
  expect(decimalsThatAddUp("-1.36", ["-1.2", "-0.16"])).toBe(2);
  expect(decimalsThatAddUp("0", [])).toBe(2);
  // Rounded away from zero, as amounts are shown: 0.01 and 0.01 are 0.02.
  expect(decimalsThatAddUp("0.015", ["0.005", "0.01"])).toBe(2);
});

test("Shows as many more digits as the parts need to sum to the whole", () => {
  // In cents, −0.90 and −0.45 would be −1.35.
  expect(decimalsThatAddUp("-1.357", ["-0.904", "-0.453"])).toBe(3);
  expect(decimalsThatAddUp("0.0044", ["0.0022", "0.0022"])).toBe(2);
  expect(decimalsThatAddUp("0.008", ["0.004", "0.004"])).toBe(3);
  expect(decimalsThatAddUp("0.000000000000000002", ["0.000000000000000001", "0.000000000000000001"])).toBe(2);
});

test("Always finds digits with which the shown parts sum to the shown whole", () => {
  const amount = fc
    .tuple(fc.bigInt({ min: -(10n ** 12n), max: 10n ** 12n }), fc.integer({ min: 0, max: 18 }))
    .map(([units, places]) => {
      const digits = String(units < 0n ? -units : units).padStart(places + 1, "0");
      const fraction = digits.slice(digits.length - places);
      return `${units < 0n ? "-" : ""}${digits.slice(0, digits.length - places)}${fraction && `.${fraction}`}`;
    });
  fc.assert(
    fc.property(fc.array(amount, { maxLength: 8 }), (parts) => {
      const whole = sumExact(parts);
      const decimals = decimalsThatAddUp(whole, parts);
      const format = new Intl.NumberFormat("en", {
        minimumFractionDigits: decimals,
        maximumFractionDigits: decimals,
        useGrouping: false,
      });
      const shown = (text: string) => format.format(text as `${number}`);
      expect(sumExact([...parts.map(shown), `-${shown(whole)}`.replace("--", "")])).toMatch(/^-?0$/);
    }),
  );
});
