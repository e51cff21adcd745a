import { expect, test } from "vitest";
import { csvNumber, csvRow } from "./csv";

test.each(["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1", "＋1", "－1", "＠SUM(A1)"])(
  "the text %j is no formula",
  (text) => expect(csvRow([text]).replaceAll('"', "")).toBe(`'${text}\r\n`),
);

test("numbers stay numbers, and what separates cells is quoted", () => {
  expect(csvRow([csvNumber("-0.4"), 'says "hi"', "a,b", "two\nlines", null])).toBe(
    '-0.4,"says ""hi""","a,b","two\nlines",\r\n',
  );
});
