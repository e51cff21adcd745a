import { expect, test } from "vitest";
import { monthOf } from "@/lib/contract/month";
import { parseDecimal, toText } from "@/lib/ledger/pricing/decimal";
import { paceOf } from "./pace";

const tenDaysIn = Date.UTC(2026, 10, 11);
const pace = (usage: string, now = tenDaysIn, booked = "0") => {
  const found = paceOf({ usage: parseDecimal(usage), booked: parseDecimal(booked) }, monthOf(now), now);
  return (
    found && {
      total: toText(found.total),
      runsOutOn: (amount: string) => found.runsOutOn(parseDecimal(amount)),
    }
  );
};

test("Forecasts a month at its pace exactly", () => {
  expect(pace("10")?.total).toBe("30");
  expect(pace("0.1")?.total).toBe("0.3");
});

test("Forecasts nothing in the first three days or without spend", () => {
  expect(pace("10", Date.UTC(2026, 10, 4) - 1)).toBeNull();
  expect(pace("10", Date.UTC(2026, 10, 4))?.total).toBe("100");
  expect(pace("0")).toBeNull();
  expect(pace("-5")).toBeNull();
});

test("Dates when an amount runs out at that pace, unless it lasts or is used up", () => {
  const { runsOutOn } = pace("10") ?? {};
  expect(runsOutOn?.("15")).toBe("2026-11-16");
  expect(runsOutOn?.("14.999999999")).toBe("2026-11-15");
  expect(runsOutOn?.("29.999999999999999999")).toBe("2026-11-30");
  expect(runsOutOn?.("30")).toBeNull();
  expect(runsOutOn?.("10")).toBeNull();
  expect(runsOutOn?.("9")).toBeNull();
});

test("Counts a charged subscription once in a month's forecast", () => {
  const { total, runsOutOn } = pace("10", tenDaysIn, "240") ?? {};
  expect(total).toBe("270");
  expect(runsOutOn?.("255")).toBe("2026-11-16");
  expect(runsOutOn?.("270")).toBeNull();
  expect(pace("0", tenDaysIn, "240")?.total).toBe("240");
});
