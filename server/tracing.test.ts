import { expect, test } from "vitest";
import { traceRate } from "@/server/tracing";

/** The number of traced requests among those at these times, in ms. */
function countChosen(times: number[]): number {
  let time = 0;
  const isChosen = traceRate(10, () => time);
  return times.filter((at) => {
    time = at;
    return isChosen();
  }).length;
}

test("Traces every request of a service with few", () => {
  expect(countChosen(Array.from({ length: 100 }, (_, index) => index * 101))).toBe(100);
});

test("Traces ten requests a second of a service with many, however they are spread", () => {
  const seconds = 60;
  const even = Array.from({ length: seconds * 1000 }, (_, ms) => ms);
  const inBursts = even.map((ms) => Math.floor(ms / 1000) * 1000);
  // Ten more at the start, because the second before it had no requests.
  expect(countChosen(even)).toBe(10 * seconds + 9);
  expect(countChosen(inBursts)).toBe(10 * seconds);
});
