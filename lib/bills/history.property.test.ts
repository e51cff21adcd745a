import fc from "fast-check";
import { expect, test } from "vitest";
import { clockOf } from "@/lib/contract/values/clock";
import { dayOf } from "@/lib/contract/values/instant";
import { add, parseDecimal, sum, toText, zero } from "@/lib/decimal";
import { addDays } from "@/lib/spend/period";
import { withoutRecorded } from "./history";

const cents = (value: number) => parseDecimal(`${value}e-2`);
const providers = ["anthropic", "openai"] as const;
const dayAt = (index: number) => addDays("2026-02-20", index);
const count = 40;

/** Of each day what was billed, in some statements of different accounts, and what was recorded, cents. Undefined: nothing. */
const book = fc.array(
  fc.record({
    provider: fc.constantFrom(...providers),
    index: fc.nat(count - 1),
    billed: fc.array(fc.integer({ min: 1, max: 10_000 }), { maxLength: 2 }),
    recorded: fc.option(fc.integer({ min: 0, max: 10_000 }), { nil: undefined }),
  }),
  { maxLength: 60 },
);

test("shows of each day and provider what was recorded, or else what was billed, and nothing twice", () => {
  fc.assert(
    fc.property(book, (rows) => {
      const billed = rows.flatMap(({ provider, index, billed: amounts }) =>
        amounts.map((amount) => ({ provider, from: dayAt(index), amount_usd: toText(cents(amount)) })),
      );
      const recorded = rows.flatMap(({ provider, index, recorded: amount }) =>
        amount === undefined ? [] : [{ provider, day: dayAt(index), amount }],
      );
      const days = recorded.map(({ provider, day }) => ({
        ...{ provider: provider.toUpperCase(), day, is_of_month: false },
      }));
      const history = withoutRecorded(billed, days, "UTC");
      for (const provider of providers)
        for (let index = 0; index < count; index += 1) {
          const day = dayAt(index);
          const isOn = (of: { provider: string }, on: string) => of.provider === provider && on === day;
          const here = recorded.filter((one) => isOn(one, one.day));
          const bill = billed.filter((one) => isOn(one, one.from));
          const expected =
            here.length > 0
              ? sum(here.map(({ amount }) => cents(amount)))
              : sum(bill.map(({ amount_usd: usd }) => parseDecimal(usd)));
          const ofHistory = history.filter((one) => isOn(one, one.day)).map(({ amount }) => amount);
          const shown = add(sum(here.map(({ amount }) => cents(amount))), ofHistory.reduce(add, zero));
          expect(String(shown), `${provider} ${day}`).toBe(String(expected));
        }
    }),
  );
});

test("has in other zones no day that shares an hour with a recorded one, and every other", () => {
  const zone = fc.constantFrom(
    "Pacific/Kiritimati",
    "Asia/Kolkata",
    "America/Los_Angeles",
    "Pacific/Pago_Pago",
  );
  fc.assert(
    fc.property(book, zone, (rows, timeZone) => {
      const billed = rows
        .filter(({ billed: amounts }) => amounts.length > 0)
        .map(({ provider, index }) => ({ provider, from: dayAt(index), amount_usd: "1" }));
      const recorded = rows
        .filter((row) => row.recorded !== undefined)
        .map(({ provider, index }) => ({ provider, day: dayAt(index), is_of_month: false }));
      const shown = new Set(
        withoutRecorded(billed, recorded, timeZone).map(({ provider, day }) => `${provider} ${day}`),
      );
      for (const { provider, from } of billed) {
        const hours = Array.from({ length: 24 }, (_, hour) => Date.parse(from) + hour * 3_600_000);
        const local = new Set(hours.map((at) => dayOf(clockOf(timeZone, at).now)));
        const isRecorded = recorded.some((one) => one.provider === provider && local.has(one.day));
        expect(shown.has(`${provider} ${from}`)).toBe(!isRecorded);
      }
    }),
  );
});

test("leaves out the month of an expense or a subscription, which may be for all of it", () => {
  const billed = ["2026-01-31", "2026-02-01", "2026-02-28"].map((from) => ({
    ...{ provider: "openai", from, amount_usd: "1" },
  }));
  const expense = { provider: "OpenAI", day: "2026-02-10", is_of_month: true };
  expect(withoutRecorded(billed, [expense], "UTC").map(({ day }) => day)).toEqual(["2026-01-31"]);
});
