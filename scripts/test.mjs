// `npm test`: runs every test from a fresh clone. The last line counts them: `tests: N passed, N failed`; the lines before it name the
// failed ones. `-- --check` also runs the checks of `npm run check`. If a check fails, all of them count as one failed test, and the tests
// still run. `-- --shard 1/4` runs a fourth of the tests, to share them between machines; the checks run in the first shard. `-- --quick`
// runs the unit and component tests and, of Vitest's other tests, those nearest to the changes since `main`, as many as fit into three
// minutes on two processors.
//
// Tests wait a lot, so parts run at the same time if they can: the checks during the build and Vitest and, on more than two processors,
// the browser tests during Vitest. Vitest's output is shown immediately; that of the other parts is shown when Vitest has ended.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { step } from "../server/progress.mjs";
import { ensureChromium } from "./chromium.mjs";
import { describeFailed, failedInPlaywright, failedInVitest } from "./failed-tests.mjs";
import { keepOutput } from "./kept-output.mjs";
import { ensureBuilt, ensureInstalled, requireNode, run, runNpm, stopRunning } from "./prepare.mjs";
import { root } from "./root.mjs";

const total = { passed: 0, failed: 0, skipped: 0 };
/** The failed tests, with their errors. */
const listed = [];
const reports = join(root, "test-results");
/** The check that cannot run during the build. */
const typeCheck = "check:types";
/** The folders of unit and component tests, which `-- --quick` always runs. */
const unitTests = ["lib/", "server/", "scripts/", "components/", "app/"];
/**
 * How many files of other tests `-- --quick` runs at most, not counting those that the branch has changed, which always run. Three
 * workers take four seconds for a file on average.
 */
const mostNearby = 50;
/** Tests that take a minute or longer. `-- --quick` runs them only if they were changed themselves. */
const slow =
  /rate-limit\.test|every-server\.test|generated-clients\.test|archived-migrations\.test|embedded\.test|ledger\.property\.test|otlp-same-call|^tests\/faults\//;
/** Names in the source of a test that needs the pages. */
const needsPages = /withPages|withSignIn|OUTLAY_FAST_LANE/;
/** Path of a part → its tests, for tests that start the service and import little of it. Of several paths, the longest counts. */
const testsOf = {
  "app/": ["tests/api/http/every-route.test.ts"],
  "lib/access/": ["tests/api/workspaces/"],
  "lib/access/oauth/": ["tests/oauth/"],
  "lib/alerts/": ["tests/api/alerts/"],
  "lib/bills/": ["tests/api/bills/"],
  "lib/http/": ["tests/api/http/"],
  "lib/keys/": ["tests/api/keys/", "tests/api/http/every-route.test.ts"],
  "lib/ledger/": ["tests/api/ledger/"],
  "lib/ledger/pricing/": ["tests/api/prices/"],
  "lib/ledger/repricing/": ["tests/api/prices/"],
  "lib/mcp/": ["tests/mcp/"],
  "lib/sources/": ["tests/api/sources/"],
  "lib/spend/": ["tests/api/spend/"],
  "lib/spend/budgets/": ["tests/api/budgets/"],
  "packages/client/": ["tests/client/"],
  "server/": ["tests/api/http/", "tests/faults/stop-service.test.ts"],
  "supabase/": ["tests/db/"],
};
let stopped = false;

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => {
    stopped = true;
    stopRunning();
    process.exitCode = 1;
  });
}

requireNode();
process.chdir(root);
try {
  const wanted = readArguments(process.argv.slice(2));
  await step("install", ensureInstalled);
  await (wanted.quick ? testNearby() : testAll(wanted));
} catch (error) {
  fail(error);
}
if (total.passed + total.failed === 0) {
  fail(new Error("No test ran."));
}
for (const line of describeFailed(listed)) console.log(line);
const skipped = total.skipped > 0 ? `, ${total.skipped} skipped` : "";
console.log(`tests: ${total.passed} passed, ${total.failed} failed${skipped}`);
process.exitCode = total.failed > 0 ? 1 : process.exitCode;

/**
 * @returns `check`: whether the checks run; `shard`: the arguments for both runners, such as `--shard=1/4`; `quick`: whether only tests
 *   near a change run
 * @throws Error for other arguments
 */
function readArguments(args) {
  const { values } = parseArgs({
    args,
    options: { check: { type: "boolean" }, shard: { type: "string" }, quick: { type: "boolean" } },
  });
  const { check = false, shard, quick = false } = values;
  if (quick && (check || shard !== undefined)) throw new Error("--quick is given alone.");
  if (shard === undefined) return { check, shard: [], quick };
  const [, part, parts] = /^([1-9]\d?)\/([1-9]\d?)$/.exec(shard) ?? [];
  if (part === undefined || Number(part) > Number(parts))
    throw new Error(`--shard ${shard}: must be a part and the number of parts, such as 1/4.`);
  return { check: check && part === "1", shard: [`--shard=${shard}`], quick };
}

/** Runs the unit tests, and the tests near the files that the branch has changed. */
async function testNearby() {
  const nearby = listNearby();
  const changed = nearby.filter(({ isChanged }) => isChanged).length;
  const files = nearby.slice(0, Math.max(mostNearby, changed)).map(({ file }) => file);
  const left = nearby.length - files.length;
  if (left > 0) console.log(`Of the tests that are near, ${left} files are left to \`npm test\`.`);
  if (files.some((file) => needsPages.test(readFileSync(file, "utf8")))) await step("build", ensureBuilt);
  await vitest([...unitTests, ...files]).catch(fail);
}

/**
 * The test files near the changes of the branch since it left `main`, nearest first: changed tests, tests that import changed files, and
 * the tests of the parts that contain changed files.
 */
function listNearby() {
  const git = (...args) =>
    spawnSync("git", args, { encoding: "utf8" }).stdout?.split("\n").filter(Boolean) ?? [];
  const [since = "HEAD"] = git("merge-base", "HEAD", "main");
  const changed = [
    ...git("diff", "--name-only", since),
    ...git("ls-files", "--others", "--exclude-standard"),
  ];
  const isTest = (file) => /^tests\/.*\.test\.tsx?$/.test(file);
  const own = changed.filter((file) => isTest(file) && existsSync(file));
  const sources = changed.filter((file) => !isTest(file));
  const importing = sources.flatMap((file) =>
    git("grep", "-lF", `"@/${file.replace(/\.tsx?$/, "")}"`, "--", "tests/*.test.ts"),
  );
  const parts = sources.flatMap((file) => {
    const [part = ""] = Object.keys(testsOf)
      .filter((path) => file.startsWith(path))
      .sort((a, b) => b.length - a.length);
    return part === "" ? [] : git("ls-files", "--", ...testsOf[part]).filter(isTest);
  });
  const near = [...importing, ...parts].filter((file) => !slow.test(file) && existsSync(file));
  return [...new Set([...own, ...near])].map((file) => ({ file, isChanged: own.includes(file) }));
}

async function testAll({ check, shard }) {
  const checks = check ? listChecks() : [];
  const chromium = findChromium();
  // The check of types uses files that the build writes and deletes, so it runs after the build.
  const duringBuild = runChecks(checks.filter((name) => name !== typeCheck));
  const [built] = await Promise.allSettled([step("build", ensureBuilt), chromium, duringBuild.ended]);
  duringBuild.output.show();
  if (stopped) throw new Error("Stopped by a signal.");
  if (built.status === "rejected") {
    countChecks(duringBuild.failed);
    throw built.reason;
  }

  const afterBuild = runChecks(checks.filter((name) => name === typeCheck));
  const browserTests = keepOutput();
  const testBrowsers = () => playwright(chromium, shard, browserTests.write).catch(fail);
  // On two processors, running both runners at once would slow tests down until some exceed their time limits.
  const browserEnded = availableParallelism() > 2 ? testBrowsers() : undefined;
  await vitest(shard).catch(fail);
  browserTests.show();
  if (!stopped) await (browserEnded ?? testBrowsers());
  await afterBuild.ended;
  afterBuild.output.show();
  countChecks([...duringBuild.failed, ...afterBuild.failed]);
}

/** Adds one failed test if any check has failed. @param failed the names of the failed checks */
function countChecks(failed) {
  if (failed.length === 0) return;
  fail(new Error(`npm run check failed (${failed.join(", ")}); see above.`));
}

/** The scripts that `npm run check` runs. */
function listChecks() {
  const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  return [...scripts.check.matchAll(/npm run (check:[\w-]+)/g)].map(([, name]) => name);
}

/**
 * Runs checks one after another, all of them even if one fails.
 * @returns their output, the names of failed checks (filled while they run), and a promise that resolves when all have ended
 */
function runChecks(names) {
  const output = keepOutput();
  const failed = [];
  const runAll = async () => {
    for (const name of names) {
      if (stopped) return;
      try {
        await runNpm(["run", name], { write: output.write });
      } catch {
        failed.push(name);
      }
    }
  };
  return { output, failed, ended: runAll() };
}

/** @param which arguments that choose the tests */
async function vitest(which) {
  const file = join(reports, "vitest.json");
  const program = [
    "node_modules/vitest/vitest.mjs",
    "run",
    ...which,
    "--reporter=default",
    "--reporter=json",
  ];
  const succeeded = await runner([...program, `--outputFile.json=${file}`], file, { inherit: true });
  const report = reportIn(file, "Vitest");
  const failed = failedInVitest(report, root);
  listed.push(...failed);
  add("Vitest", succeeded, {
    passed: report.numPassedTests,
    failed: failed.length,
    skipped: report.numPendingTests + report.numTodoTests,
  });
}

/** Finds a browser, or installs one. @returns its path, or the error */
async function findChromium() {
  let found;
  try {
    await step("browser", async (note) => {
      found = await ensureChromium(note);
      return found;
    });
  } catch (error) {
    return error;
  }
  return found;
}

/** @param chromium the promise of `findChromium` @param shard see `readArguments` @param write receives the output */
async function playwright(chromium, shard, write) {
  const browser = await chromium;
  if (browser instanceof Error) throw browser;
  const file = join(reports, "playwright.json");
  const succeeded = await runner(
    ["node_modules/@playwright/test/cli.js", "test", ...shard, "--reporter=list,json"],
    file,
    { write },
    { CHROMIUM_PATH: browser, PLAYWRIGHT_JSON_OUTPUT_FILE: file },
  );
  const report = reportIn(file, "Playwright");
  const { stats } = report;
  const failed = failedInPlaywright(report, "tests/e2e");
  listed.push(...failed);
  add("Playwright", succeeded, {
    passed: stats.expected + stats.flaky,
    failed: failed.length,
    skipped: stats.skipped,
  });
}

/** Runs a test runner. @param output `inherit` or `write`, as of `run`. @returns whether it ended with status 0 */
async function runner(args, report, output, env = {}) {
  mkdirSync(reports, { recursive: true });
  // An earlier report must not be read instead of the new one.
  rmSync(report, { force: true });
  try {
    await run([process.execPath, ...args], { ...output, env: { NODE_ENV: "test", ...env } });
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
    fail(new Error(`${name} failed outside of any test; see above.`));
  }
  for (const kind of Object.keys(total)) total[kind] += counts[kind];
}

/** Counts a failure outside of the runners' reports as one failed test. */
function fail(error) {
  console.error(error.message);
  listed.push({ name: error.message.split("\n")[0], error: error.message.split("\n").slice(1).join("\n") });
  total.failed += 1;
}
