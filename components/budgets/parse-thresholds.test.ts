import { expect, test } from "vitest";
import { formatThresholds, parseThresholds } from "./parse-thresholds";

test.each([
  ["50%, 80 %,100%", { percent: ["50", "80", "100"], usd: [] }],
  ["$1,250, 12.5%", { percent: ["12.5"], usd: ["1250"] }],
  ["$1,250.50;$2", { percent: [], usd: ["1250.50", "2"] }],
  ["", { percent: [], usd: [] }],
  ["80", undefined],
  ["0%", undefined],
  ["$0", undefined],
  ["80%, soon", undefined],
])("Reads the thresholds of %j", (typed, thresholds) => {
  expect(parseThresholds(typed)).toEqual(thresholds);
});

test("Reads what it writes", () => {
  const thresholds = { percent: ["50", "0.5"], usd: ["1250.5"] };
  expect(parseThresholds(formatThresholds(thresholds))).toEqual(thresholds);
});
