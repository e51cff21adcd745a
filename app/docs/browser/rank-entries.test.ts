import { expect, test } from "vitest";
import { rankEntries } from "./rank-entries";

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
const find = (text: string) => rankEntries(entries, text).map(({ href }) => href);

test("the search finds a name to the letter before what begins with it, and that before what only mentions it", () => {
  expect(find("amount_usd")).toEqual(["/d", "/a"]);
  expect(find("idempotency")).toEqual(["/b", "/c"]);
  expect(find("Idempotency_Key")).toEqual(["/b"]);
  expect(find("record messages")).toEqual(["/e"]);
});

test("the search finds nothing for nothing, and nothing for what is not there", () => {
  expect([find("  "), find("invoice")]).toEqual([[], []]);
});
