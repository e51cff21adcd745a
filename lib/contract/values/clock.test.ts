import { describe, expect, test } from "vitest";
import { clockOf, instantOf, postedOn } from "./clock";

const zones = [
  "UTC",
  "Pacific/Auckland",
  "America/New_York",
  "Asia/Kolkata",
  "Pacific/Chatham",
  "Pacific/Kiritimati",
];
const at = (text: string) => Date.parse(text);

describe("The clock of a time zone", () => {
  test.each([
    ["UTC", "2026-11-01T00:30:00Z", "2026-11-01T00:30:00Z"],
    ["Pacific/Auckland", "2026-10-31T11:30:00Z", "2026-11-01T00:30:00Z"],
    ["Pacific/Chatham", "2026-10-31T10:15:00Z", "2026-11-01T00:00:00Z"],
    ["America/New_York", "2026-11-01T03:59:59.999Z", "2026-10-31T23:59:59.999Z"],
    // The clocks are set back at 06:00 UTC, so that local hour occurs twice.
    ["America/New_York", "2026-11-01T05:30:00Z", "2026-11-01T01:30:00Z"],
    ["America/New_York", "2026-11-01T06:30:00Z", "2026-11-01T01:30:00Z"],
  ])("of %s shows at %s %s", (zone, instant, shown) => {
    expect(clockOf(zone, at(instant)).now).toBe(at(shown));
  });

  test("leads back to the instant, every few hours of a year, but for the hour that comes twice", () => {
    for (const zone of zones)
      for (
        let instant = at("2026-01-01T00:30:00Z");
        instant < at("2027-01-01T00:00:00Z");
        instant += 19_800_000
      ) {
        const { now } = clockOf(zone, instant);
        const back = instantOf(zone, now);
        expect(clockOf(zone, back).now).toBe(now);
        expect(instant - back === 0 || instant - back === 3_600_000).toBe(true);
      }
  });

  test("that is put forward over a time has the instant after it", () => {
    expect(instantOf("America/New_York", at("2026-03-08T02:30:00Z"))).toBe(at("2026-03-08T07:30:00Z"));
  });
});

test("A cost at exactly midnight UTC is of that day in every zone", () => {
  for (const zone of zones) expect(postedOn(zone, at("2026-11-01T00:00:00Z"))).toBe("2026-11-01");
  expect(postedOn("America/New_York", at("2026-11-01T00:00:00.001Z"))).toBe("2026-10-31");
});
