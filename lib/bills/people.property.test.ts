import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Decimal, parseDecimal, sum, toText } from "@/lib/decimal";
import { sumByUser, toUserRows, type UserSums } from "./people";

const amount = fc
  .bigInt({ min: -(10n ** 22n), max: 10n ** 22n })
  .map((digits) => parseDecimal(`${digits}e-18`));
const provider = fc.constantFrom("cursor", "aws", "openai");
const user = fc.constantFrom(null, "ada@example.com", "Ada@Example.com", "bo", "Bo", "cy@example.com");
const rows = fc.array(fc.record({ provider, user, amount }), { maxLength: 30 });
const adjustments = fc.array(fc.record({ provider, amount }), { maxLength: 5 });

const total = (of: readonly { amount: Decimal }[]) => toText(sum(of.map((one) => one.amount)));
const of = <T extends { provider: string }>(name: string, all: readonly T[]) =>
  all.filter((one) => one.provider === name);
const side = (of: readonly UserSums[], name: "billed" | "recorded" | "adjusted") =>
  toText(sum(of.map((one) => one[name])));

describe("The amounts of people", () => {
  test("sum exactly to those of the provider, also where a list leaves people out", () => {
    fc.assert(
      fc.property(rows, rows, adjustments, fc.nat({ max: 4 }), (billed, recorded, adjusted, atMost) => {
        const sums = sumByUser(billed, recorded, adjusted);
        for (const name of ["cursor", "aws", "openai"]) {
          const own = of(name, sums);
          if (of(name, billed).every((one) => one.user === null)) {
            expect(own).toEqual([]);
            continue;
          }
          const listed = of(name, toUserRows(sums, atMost));
          for (const list of [own, listed]) {
            expect(side(list, "billed")).toBe(total(of(name, billed)));
            expect(side(list, "recorded")).toBe(total(of(name, recorded)));
            expect(side(list, "adjusted")).toBe(total(of(name, adjusted)));
          }
          const people = own.filter((row) => row.user !== null).length;
          expect(listed.filter(({ kind }) => kind === "user").length).toBe(Math.min(people, atMost));
          expect(listed.reduce((count, row) => count + row.count, 0)).toBe(people);
        }
      }),
    );
  });

  test("are of one row for all spellings of an e-mail address, and of two for other names", () => {
    const [one, two] = [parseDecimal("1"), parseDecimal("2")];
    const sums = sumByUser(
      [{ provider: "cursor", user: "ada@example.com", amount: two }],
      [
        { provider: "cursor", user: "Ada@Example.com", amount: one },
        { provider: "cursor", user: "ADA@EXAMPLE.COM", amount: one },
        { provider: "cursor", user: "bo", amount: one },
        { provider: "cursor", user: "Bo", amount: two },
        { provider: "openai", user: "bo", amount: two },
      ],
      [],
    );
    expect(sums.map((row) => [row.provider, row.user, toText(row.billed), toText(row.recorded)])).toEqual([
      ["cursor", "Bo", "0", "2"],
      ["cursor", "bo", "0", "1"],
      ["cursor", "ada@example.com", "2", "2"],
    ]);
  });
});
