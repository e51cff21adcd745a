import fc from "fast-check";
import { expect, test } from "vitest";
import { ExactNumber } from "@/lib/contract/exact-number";
import { parseJson } from "./json";

const textOf = (value: unknown) => (value instanceof ExactNumber ? value.text : value);
const digits = fc
  .integer({ min: 1, max: 20 })
  .chain((count) => fc.bigInt({ min: 10n ** BigInt(count - 1), max: 10n ** BigInt(count) - 1n }))
  .map(String);

test("Keeps every digit of a number that a double cannot hold", () => {
  fc.assert(
    fc.property(digits, digits, fc.constantFrom("", "-"), (whole, fraction, sign) => {
      const number = `${sign}${whole}.${fraction}`;
      fc.pre(whole.length + fraction.length > 15);
      const { a, b, c, d } = parseJson(
        `{"a":${number},"b":[${number}],"c": ${number} ,"d":[1,${number}]}`,
      ) as { a: unknown; b: unknown[]; c: unknown; d: unknown[] };
      expect([a, b[0], c, d[1]].map(textOf)).toEqual([number, number, number, number]);
      expect(textOf(parseJson(number))).toBe(number);
    }),
  );
});

test.each(["123456789012345.6", "100000039436914.55968", "1234567890123456", "0.1234567890123456"])(
  "Keeps %s as written",
  (number) => {
    expect(textOf(parseJson(`{"amount":${number}}`) as object)).toEqual({ amount: new ExactNumber(number) });
  },
);
