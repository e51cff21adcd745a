import { expect, test } from "vitest";
import { canonicalRange, isAddressIn } from "./ip-range";

test.each([
  ["203.0.113.9", "203.0.113.9/32"],
  ["203.0.113.9/24", "203.0.113.0/24"],
  ["203.0.113.255/25", "203.0.113.128/25"],
  ["10.1.2.3/0", "0.0.0.0/0"],
  ["2001:DB8::1", "2001:db8::1/128"],
  ["2001:db8:ffff::1/33", "2001:db8:8000::/33"],
  ["::ffff:203.0.113.9", "203.0.113.9/32"],
  ["::ffff:203.0.113.9/120", "203.0.113.0/24"],
  ["::/0", "::/0"],
])("Stores %s as %s, which contains the same address", (text, kept) => {
  expect(canonicalRange(text)).toBe(kept);
  expect(canonicalRange(kept)).toBe(kept);
  expect(isAddressIn(text.split("/")[0], [kept])).toBe(true);
});

test.each([
  ...[
    "",
    "10",
    "10.0.0",
    "010.0.0.1",
    "0x7f.0.0.1",
    "10.0.0.256",
    "10.0.0.1/33",
    "10.0.0.1/",
    "10.0.0.0/8/8",
  ],
  ...["2001:db8::/129", "fe80::1%eth0", "localhost", "2001:db8::1::", "*", "10.0.0.1-10.0.0.9"],
])("Refuses %s as a range", (text) => {
  expect(canonicalRange(text)).toBeUndefined();
});
