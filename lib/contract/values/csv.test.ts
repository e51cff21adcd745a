import { expect, test } from "vitest";
import { csvNumber, csvRow } from "./csv";

test.each([
  ["plain text", "plain text"],
  ["a,b", '"a,b"'],
  ["a;b", '"a;b"'],
  ["a\tb", '"a\tb"'],
  ["a\r\nb", '"a\r\nb"'],
  ['say "so"', '"say ""so"""'],
  ["\tcmd", '"\'\tcmd"'],
  ["=1+1", "'=1+1"],
  ["=1;2", '"\'=1;2"'],
])("Writes the text %j so that no spreadsheet splits or runs it", (text, written) => {
  expect(csvRow([text, "next"])).toBe(`${written},next\r\n`);
});

test("Writes numbers and empty cells as they are", () => {
  expect(csvRow([csvNumber("-0.30"), null, csvNumber(null)])).toBe("-0.30,,\r\n");
});
