import fc from "fast-check";
import { parse as parseByLibrary, stringify } from "lossless-json";
import { expect, test } from "vitest";
import { ExactNumber } from "@/lib/contract/values/exact-number";
import { parseJson, writeJson } from "./json";

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

/** Pieces of text. Some combinations of them are valid JSON. */
const pieces = fc.array(
  fc.constantFrom(
    ...["{", "}", "[", "]", ",", ":", " ", '"', "\\", '"a"', '"b":', "-", "0", "e", "null"],
    ...[
      "12345678901234567890",
      "1.0000000000000001",
      "-0.1234567890123456e-7",
      "1e400",
      "01234567890123456789",
    ],
    '"\\" 12345678901234567890"',
    '"__proto__":',
  ),
  { maxLength: 12 },
);
const exactly = {
  parseNumber: (number: string) => {
    const parsed = parseJson(number) as number | ExactNumber;
    return parsed instanceof ExactNumber ? new ExactNumber(number) : parsed;
  },
  onDuplicateKey: ({ newValue }: { newValue: unknown }) => newValue,
};

test("Reads every text as the library does that parses each number by itself, and refuses the same", () => {
  const attempt = (read: () => unknown) => {
    try {
      return { value: read() };
    } catch (error) {
      expect(error).toBeInstanceOf(SyntaxError);
      return "refused";
    }
  };
  fc.assert(
    fc.property(pieces, (parts) => {
      for (const text of [parts.join(""), `[12345678901234567890,${parts.join("")}]`]) {
        expect(attempt(() => parseJson(text))).toEqual(attempt(() => parseByLibrary(text, null, exactly)));
      }
    }),
    { numRuns: 3_000 },
  );
});

test.each([
  "{12345678901234567890:1}",
  '{"a":1,12345678901234567890 :1}',
  "[12345678901234567890.]",
  "[1,2345678901234567890123 4]",
])("Refuses %s", (text) => {
  expect(() => parseJson(text)).toThrow(SyntaxError);
});

const exactNumber = fc
  .tuple(
    fc.constantFrom("", "-"),
    fc.constantFrom("0", "7", "12345678901234567890"),
    fc.constantFrom("", ".05", "e-7", "E+12"),
  )
  .map((parts) => new ExactNumber(parts.join("")));
const unwritten = fc.constantFrom<unknown>(
  undefined,
  Symbol("a"),
  () => 1,
  Number.NaN,
  Number.NEGATIVE_INFINITY,
  -0,
);
const { tree } = fc.letrec((tie) => ({
  tree: fc.oneof(
    { maxDepth: 5 },
    fc.oneof(fc.jsonValue({ maxDepth: 0 }), fc.string({ unit: "binary" }), fc.double(), fc.bigInt()),
    fc.oneof(exactNumber, unwritten, fc.date(), fc.constant({ toJSON: () => ({ a: [1n] }) })),
    fc.array(tie("tree")),
    fc.dictionary(
      fc.oneof(fc.constantFrom("toString", "__proto__", "1", "cost_usd"), fc.string({ unit: "binary" })),
      tie("tree"),
    ),
  ),
}));

test("Writes every value as the library does that reads exact numbers", () => {
  const inFull = {
    test: (item: unknown) => item instanceof ExactNumber,
    stringify: (item: unknown) => (item as ExactNumber).text,
  };
  fc.assert(
    fc.property(tree, (value) => {
      expect(writeJson({ value })).toBe(stringify({ value }, undefined, undefined, [inFull]));
      expect(writeJson([value])).toBe(stringify([value], undefined, undefined, [inFull]));
    }),
    { numRuns: 2_000 },
  );
});

test.each(["", "01", "1.", ".5", "NaN", "1,2", "1e"])("Refuses to write %j as a number", (text) => {
  expect(() => writeJson({ amount: new ExactNumber(text) })).toThrow("is not a number in JSON");
});
