import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  add,
  compare,
  countDecimals,
  type Decimal,
  DecimalError,
  divideMoney,
  isZero,
  moneyScale,
  multiply,
  parseDecimal,
  roundMoney,
  shiftDecimal,
  subtract,
  sum,
  toText,
} from "./decimal";

const d = parseDecimal;

/** coefficient × 10^-scale, the independent arithmetic of the properties below. */
type Rational = { coefficient: bigint; scale: number };
const rational = fc.record({ coefficient: fc.bigInt(-(10n ** 24n), 10n ** 24n), scale: fc.nat(24) });
const decimalOf = ({ coefficient, scale }: Rational) => d(`${coefficient}e-${scale}`);

function textOf({ coefficient, scale }: Rational): string {
  const digits = (coefficient < 0n ? -coefficient : coefficient).toString().padStart(scale + 1, "0");
  const whole = digits.slice(0, digits.length - scale);
  const fraction = digits.slice(digits.length - scale).replace(/0+$/, "");
  const text = fraction ? `${whole}.${fraction}` : whole;
  return coefficient < 0n ? `-${text}` : text;
}

describe("Parsing a decimal", () => {
  test.each([
    [0.1, "0.1"],
    [1e-12, "0.000000000001"],
    [1e15, "1000000000000000"],
    [1e21, "1000000000000000000000"],
    [5e-324, `0.${"0".repeat(323)}5`],
    [2 ** 53, "9007199254740992"],
    [-0, "0"],
    ["1.50", "1.5"],
    ["-.5", "-0.5"],
    ["5.", "5"],
    ["0.000", "0"],
    ["-0", "0"],
    ["1e3", "1000"],
    ["90071992547409.93", "90071992547409.93"],
    [12n, "12"],
  ])("Reads %s as %s", (value, text) => {
    expect(toText(d(value))).toBe(text);
  });

  test.each([
    Number.NaN,
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
    "",
    " 1",
    "1,5",
    "0x10",
    "NaN",
    "Infinity",
    "1e",
    "--1",
    "1e401",
    "1e-401",
    "1e99999999",
    "1".repeat(401),
  ])("Refuses %s", (value) => {
    expect(() => d(value)).toThrow(DecimalError);
  });

  test("Round-trips every finite number", () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        expect(Number(toText(d(value)))).toBe(value === 0 ? 0 : value);
      }),
    );
  });
});

describe("Decimal arithmetic", () => {
  test("Adds 0.1 and 0.2 to 0.3", () => {
    expect(toText(add(d(0.1), d(0.2)))).toBe("0.3");
  });

  test("Adds a million cents to 2^53 cents without loss", () => {
    const cents = d("90071992547409.92");
    expect(toText(sum([cents, ...Array.from({ length: 1000 }, () => d(0.01))]))).toBe("90071992547419.92");
  });

  test("Multiplies 1e308 by 1e-12 exactly", () => {
    expect(toText(multiply(d(1e308), d(1e-12)))).toBe(`1${"0".repeat(296)}`);
  });

  test("Equals rational arithmetic over BigInt for plus, minus, times and comparison", () => {
    fc.assert(
      fc.property(rational, rational, (a, b) => {
        const scale = Math.max(a.scale, b.scale);
        const left = a.coefficient * 10n ** BigInt(scale - a.scale);
        const right = b.coefficient * 10n ** BigInt(scale - b.scale);
        expect(toText(add(decimalOf(a), decimalOf(b)))).toBe(textOf({ coefficient: left + right, scale }));
        expect(toText(subtract(decimalOf(a), decimalOf(b)))).toBe(
          textOf({ coefficient: left - right, scale }),
        );
        const product = { coefficient: a.coefficient * b.coefficient, scale: a.scale + b.scale };
        expect(toText(multiply(decimalOf(a), decimalOf(b)))).toBe(textOf(product));
        expect(compare(decimalOf(a), decimalOf(b))).toBe(left < right ? -1 : left > right ? 1 : 0);
        expect(isZero(decimalOf(a))).toBe(a.coefficient === 0n);
      }),
    );
  });

  test("Shifts by powers of ten", () => {
    fc.assert(
      fc.property(rational, fc.integer({ min: -20, max: 20 }), (a, places) => {
        expect(toText(shiftDecimal(decimalOf(a), places))).toBe(
          toText(multiply(decimalOf(a), d(`1e${places}`))),
        );
      }),
    );
  });

  test("Does not change its operands", () => {
    const a = d("1.234567890123456789123");
    const before = toText(a);
    add(a, a);
    shiftDecimal(a, 3);
    roundMoney(a);
    expect(toText(a)).toBe(before);
  });

  test("Throws when a decimal is used in float arithmetic", () => {
    expect(() => Number(d("0.1") as unknown)).toThrow();
    expect(JSON.stringify({ amount: d("1e-9") })).toBe('{"amount":"0.000000001"}');
  });
});

/** numerator ÷ denominator, half-even, at the money scale, computed only with BigInt. */
function roundedQuotient(numerator: bigint, denominator: bigint): Rational {
  const scaled = numerator * 10n ** BigInt(moneyScale);
  const sign = scaled < 0n ? -1n : 1n;
  const size = scaled * sign;
  const quotient = size / denominator;
  const twice = (size % denominator) * 2n;
  const up = twice > denominator || (twice === denominator && quotient % 2n === 1n);
  return { coefficient: (up ? quotient + 1n : quotient) * sign, scale: moneyScale };
}

describe("Rounding to the ledger's scale", () => {
  test.each([
    ["0.0000000000000000005", "0"],
    ["0.0000000000000000015", "0.000000000000000002"],
    ["0.0000000000000000025", "0.000000000000000002"],
    ["0.00000000000000000250001", "0.000000000000000003"],
    ["-0.0000000000000000015", "-0.000000000000000002"],
    ["-0.0000000000000000005", "0"],
    ["0.9999999999999999999", "1"],
    ["123456789.123456789123456789", "123456789.123456789123456789"],
  ])("Rounds %s to %s", (value, rounded) => {
    expect(toText(roundMoney(d(value)))).toBe(rounded);
  });

  const check = (value: Decimal, expected: Rational) => {
    expect(toText(value)).toBe(textOf(expected).replace(/^-0$/, "0"));
    expect(countDecimals(value)).toBeLessThanOrEqual(moneyScale);
  };

  test("Rounds and divides half-even, once", () => {
    fc.assert(
      fc.property(rational, fc.bigInt(1n, 10n ** 12n), (a, divisor) => {
        check(roundMoney(decimalOf(a)), roundedQuotient(a.coefficient, 10n ** BigInt(a.scale)));
        check(
          divideMoney(decimalOf(a), d(divisor)),
          roundedQuotient(a.coefficient, 10n ** BigInt(a.scale) * divisor),
        );
      }),
    );
  });

  test("Refuses division by zero", () => {
    expect(() => divideMoney(d(1), d(0))).toThrow(DecimalError);
  });
});
