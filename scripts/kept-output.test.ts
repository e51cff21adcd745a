import { expect, test } from "vitest";
import { keepOutput } from "@/scripts/kept-output.mjs";

test("Prints what was written before in its order, and what follows at once", () => {
  const printed: string[] = [];
  const output = keepOutput((chunk) => printed.push(String(chunk)));
  output.write("1 ");
  output.write(Buffer.from("2 "));
  expect(printed).toEqual([]);
  output.show();
  expect(printed).toEqual(["1 ", "2 "]);
  output.write("3 ");
  output.show();
  expect(printed).toEqual(["1 ", "2 ", "3 "]);
});
