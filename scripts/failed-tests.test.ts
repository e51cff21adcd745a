import { expect, test } from "vitest";
import { describeFailed, failedInPlaywright, failedInVitest } from "@/scripts/failed-tests.mjs";

test("Names the failed tests of Vitest, and the files that failed outside of their tests", () => {
  const passed = { fullName: "Adds", status: "passed", failureMessages: [] };
  const failed = {
    fullName: "Sums Subtracts",
    status: "failed",
    failureMessages: ["Error: 1\n    at x.ts:1"],
  };
  const report = {
    testResults: [
      { name: "/clone/lib/a.test.ts", status: "failed", message: "", assertionResults: [passed, failed] },
      { name: "/clone/lib/b.test.ts", status: "passed", message: "", assertionResults: [passed] },
      { name: "/clone/lib/c.test.ts", status: "failed", message: "No such module", assertionResults: [] },
    ],
  };
  expect(failedInVitest(report, "/clone")).toEqual([
    { name: "lib/a.test.ts › Sums Subtracts", error: "Error: 1\n    at x.ts:1" },
    { name: "lib/c.test.ts", error: "No such module" },
  ]);
});

test("Names the failed tests of Playwright with their browser, and errors outside of tests", () => {
  const result = (projectName: string, status: string, ...messages: string[]) => ({
    projectName,
    status,
    results: [{ errors: messages.map((message) => ({ message })) }],
  });
  const spec = (title: string, line: number, ...tests: ReturnType<typeof result>[]) => ({
    file: "keys.spec.ts",
    line,
    title,
    tests,
  });
  const report = {
    suites: [
      {
        title: "keys.spec.ts",
        file: "keys.spec.ts",
        specs: [
          spec(
            "Opens",
            3,
            result("desktop", "expected"),
            result("phone", "unexpected", "Timed out", "Waiting for a button"),
          ),
        ],
        suites: [
          {
            title: "A viewer",
            file: "keys.spec.ts",
            specs: [spec("Reads", 9, result("desktop", "unexpected"))],
          },
        ],
      },
    ],
    errors: [{ message: "No service" }],
  };
  expect(failedInPlaywright(report, "tests/e2e")).toEqual([
    { name: "tests/e2e/keys.spec.ts:3 (phone) › Opens", error: "Timed out\nWaiting for a button" },
    { name: "tests/e2e/keys.spec.ts:9 (desktop) › A viewer › Reads", error: "" },
    { name: "tests/e2e (outside of any test)", error: "No service" },
  ]);
});

test("Shows the first lines of each error and the first frame of our code, without colours and empty lines", () => {
  const stack =
    "    at node:internal/x:1:1\n    at x (/clone/node_modules/x.js:1:1)\n    at x.ts:1:1\n    at y.ts:2:2";
  const error = `\u001b[31mError: expected 1\u001b[39m\n\n- 1\n+ 2\n${stack}`;
  expect(describeFailed([{ name: "a.test.ts › Adds", error }])).toEqual([
    "Failed:",
    "  a.test.ts › Adds",
    "      Error: expected 1",
    "      - 1",
    "      + 2",
    "          at x.ts:1:1",
  ]);
});

test("Is silent where nothing failed, and at most 60 lines long", () => {
  expect(describeFailed([])).toEqual([]);
  const error = Array.from({ length: 40 }, (_, line) => `line ${line}`).join("\n");
  const failed = (count: number) =>
    Array.from({ length: count }, (_, test) => ({ name: `a.test.ts › ${test}`, error }));
  for (const count of [1, 7, 9, 20, 29, 57, 58, 59, 60, 100]) {
    const lines = describeFailed(failed(count));
    expect(lines.length, `${count} failed`).toBeLessThanOrEqual(60);
    const named = lines.filter((line) => line.includes("a.test.ts")).length;
    const left = Number(/… and (\d+) more/.exec(lines.at(-1) ?? "")?.[1] ?? 0);
    expect(named + left, `${count} failed`).toBe(count);
  }
  expect(describeFailed(failed(2))).toHaveLength(1 + 2 * (1 + 6));
});
