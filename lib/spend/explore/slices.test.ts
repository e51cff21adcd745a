import { expect, test } from "vitest";
import { divideAtSlices } from "./slices";

const divided = (names: string[]) => [
  ...divideAtSlices({ from: "2025-12-01", until: "2026-03-20" }, names, {
    "2025-12-01": ["model project user", "key model project"],
    "2026-01-01": ["key model project", "model project user"],
    "2026-02-01": [],
    "2026-04-01": ["model project user"],
  }),
];

test("Reads each month in its first slice that keeps all of the names, and the others by all names", () => {
  expect(divided(["project", "model"])).toEqual([
    ["model project user", ["2025-12-01"]],
    ["key model project", ["2026-01-01"]],
    [undefined, ["2026-02-01", "2026-03-01"]],
  ]);
  expect(divided(["provider", "key"])).toEqual([
    ["key model project", ["2025-12-01", "2026-01-01"]],
    [undefined, ["2026-02-01", "2026-03-01"]],
  ]);
});

test.each([["source"], ["tag"], ["tag:team"], ["unit"], ["feature"]])(
  "Reads no slice for %s where none keeps it",
  (name) => {
    expect(divided(["model", name]).map(([slice]) => slice)).toEqual([undefined]);
  },
);
