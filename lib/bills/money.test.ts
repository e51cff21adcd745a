import fc from "fast-check";
import { expect, test } from "vitest";
import { toText } from "@/lib/decimal";
import { cents, dollars, dollarsOf, dollarsWritten } from "./money";

/** An amount as a whole number of ten-thousandths of a dollar, up to a million dollars: as fine as providers write. */
const amount = fc.integer({ min: -10_000_000_000, max: 10_000_000_000 });

/** Decimal text of a whole number, with a point before its last digits. */
function withPoint(whole: number, places: number): string {
  const digits = String(Math.abs(whole)).padStart(places + 1, "0");
  const text = `${digits.slice(0, -places)}.${digits.slice(-places)}`;
  return whole < 0 ? `-${text}` : text;
}

test("Reads an amount as the same dollars, however a provider writes it", () => {
  fc.assert(
    fc.property(amount, (tenThousandths) => {
      const usd = withPoint(tenThousandths, 4);
      const usdCents = withPoint(tenThousandths, 2);
      const expected = toText(dollars(usd));
      expect(toText(dollarsOf(cents(usdCents)))).toBe(expected);
      expect(toText(dollarsWritten(usdCents, "cents"))).toBe(expected);
      expect(toText(dollarsWritten(usd, "dollars"))).toBe(expected);
      // A JSON number that a double holds is read by its shortest text.
      expect(toText(dollars(JSON.parse(usd)))).toBe(expected);
      const wholeCents = BigInt(tenThousandths) * 100n;
      expect(toText(dollarsOf(cents(wholeCents)))).toBe(toText(dollars(BigInt(tenThousandths))));
    }),
  );
});

test("Never reads cents as dollars", () => {
  expect(toText(dollarsWritten("123.45", "cents"))).toBe("1.2345");
  expect(toText(dollarsWritten("123.45", "dollars"))).toBe("123.45");
  // @ts-expect-error Cents are no dollars.
  const wrong: ReturnType<typeof dollars> = cents("123.45");
  expect(wrong).toBeDefined();
});
