// `npm test`: runs every test from a fresh clone. The last line counts them: `tests: N passed, N failed`. With `-- --check`,
// `npm run check` runs first. If it fails, it counts as one failed test, and the tests still run.
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { step } from "../server/progress.mjs";
import { ensureChromium } from "./chromium.mjs";
import { ensureBuilt, ensureInstalled, requireNode, run, runNpm, stopRunning } from "./prepare.mjs";
import { root } from "./root.mjs";

const total = { passed: 0, failed: 0, skipped: 0 };
const reports = join(root, "test-results");

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => {
    stopRunning();
    process.exitCode = 1;
  });
}

requireNode();
process.chdir(root);
try {
  await step("install", ensureInstalled);
  if (process.argv.includes("--check")) await check();
  await step("build", ensureBuilt);
  await vitest();
  if (existsSync(join(root, "playwright.config.ts"))) await playwright();
} catch (error) {
  console.error(error.message);
  total.failed += 1;
}
if (total.passed + total.failed === 0) {
  console.error("No test ran.");
  total.failed += 1;
}
const skipped = total.skipped > 0 ? `, ${total.skipped} skipped` : "";
console.log(`tests: ${total.passed} passed, ${total.failed} failed${skipped}`);
process.exitCode = total.failed > 0 ? 1 : process.exitCode;

async function check() {
  try {
    await runNpm(["run", "check"], { inherit: true });
  } catch {
    console.error("npm run check failed; see above.");
    total.failed += 1;
  }
}

async function vitest() {
  const file = join(reports, "vitest.json");
  const program = ["node_modules/vitest/vitest.mjs", "run", "--reporter=default", "--reporter=json"];
  const succeeded = await runner([...program, `--outputFile.json=${file}`], file);
  const report = reportIn(file, "Vitest");
  // A file that could not be loaded, or whose set-up failed, has no test that reports the failure.
  const broken = report.testResults.filter(
    ({ status, assertionResults }) =>
      status === "failed" && !assertionResults.some((test) => test.status === "failed"),
  );
  add("Vitest", succeeded, {
    passed: report.numPassedTests,
    failed: report.numFailedTests + broken.length,
    skipped: report.numPendingTests + report.numTodoTests,
  });
}

async function playwright() {
  const file = join(reports, "playwright.json");
  let chromium = "";
  await step("browser", async (note) => {
    chromium = await ensureChromium(note);
    return chromium;
  });
  const succeeded = await runner(
    ["node_modules/@playwright/test/cli.js", "test", "--reporter=list,json"],
    file,
    {
      CHROMIUM_PATH: chromium,
      PLAYWRIGHT_JSON_OUTPUT_FILE: file,
    },
  );
  const { stats, errors } = reportIn(file, "Playwright");
  add("Playwright", succeeded, {
    passed: stats.expected + stats.flaky,
    failed: stats.unexpected + errors.length,
    skipped: stats.skipped,
  });
}

/** Runs a test runner with its output shown. @returns whether it ended with status 0 */
async function runner(args, report, env = {}) {
  mkdirSync(reports, { recursive: true });
  // Deletes an earlier report first, so that it is not read in place of the new one.
  rmSync(report, { force: true });
  try {
    await run([process.execPath, ...args], { inherit: true, env: { NODE_ENV: "test", ...env } });
    return true;
  } catch {
    return false;
  }
}

function reportIn(file, name) {
  if (!existsSync(file)) throw new Error(`${name} ended without a report: it crashed.`);
  return JSON.parse(readFileSync(file, "utf8"));
}

function add(name, succeeded, counts) {
  if (!succeeded && counts.failed === 0) {
    console.error(`${name} failed outside of any test; see above.`);
    counts.failed = 1;
  }
  for (const kind of Object.keys(total)) total[kind] += counts[kind];
}
