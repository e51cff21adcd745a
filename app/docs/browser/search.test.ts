import { expect, test } from "vitest";
import { findEntries } from "./search";

const entries = [
  {
    name: "Read the month so far",
    of: "GET /api/v1/summary/month",
    href: "/a",
    words: "Sums of `amount_usd`.",
  },
  { name: "message.idempotency_key", of: "POST /api/v1/messages", href: "/b" },
  { name: "idempotency_conflict", of: "Error, status 409", href: "/c" },
  { name: "amount_usd", of: "POST /api/v1/messages", href: "/d" },
  { name: "Record a cost", of: "POST /api/v1/messages", href: "/e" },
];
const find = (text: string) => findEntries(entries, text).map(({ href }) => href);

test("Ranks exact names before names that begin with the query, and those before mere mentions", () => {
  expect(find("amount_usd")).toEqual(["/d", "/a"]);
  expect(find("idempotency")).toEqual(["/b", "/c"]);
  expect(find("Idempotency_Key")).toEqual(["/b"]);
  expect(find("record messages")).toEqual(["/e"]);
});

test("Finds nothing for an empty query or for an unknown word", () => {
  expect([find("  "), find("invoice")]).toEqual([[], []]);
});
