// Builds lib/ledger/pricing/rates/snapshot.json: the value of one unit of each currency in USD, as exact decimal text. The
// snapshot before it goes to earlier.json, so that what occurred before is still converted at the rate of its day.
//
//   npm run rates:refresh                      the latest day
//   npm run rates:refresh -- --version 2026.9.1
//   npm run rates:refresh -- --accept ARS      accepts a change of more than 20 % that was reviewed
//
// The package with the rates states no licence, so it is neither a dependency nor part of the repository: it is read in a
// temporary folder, and only the rates of ISO currencies are kept.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import Big from "big.js";

const packageName = "@fawazahmed0/currency-api";
const snapshotPath = fileURLToPath(new URL("../lib/ledger/pricing/rates/snapshot.json", import.meta.url));
const earlierPath = fileURLToPath(new URL("../lib/ledger/pricing/rates/earlier.json", import.meta.url));
const currenciesPath = fileURLToPath(new URL("../lib/ledger/pricing/iso-4217.ts", import.meta.url));
const maxJump = new Big("0.2");
// A rate and its inverse are published with eight digits each.
const maxInverseError = new Big("0.000001");

/**
 * The reasons against replacing a snapshot, one sentence each: a missing currency, an older day, a rate that changed by
 * more than 20 %. `accepted` lists currencies whose change was reviewed.
 */
export function findProblems(previous, next, accepted = []) {
  if (!previous) return [];
  const problems = [];
  if (next.date < previous.date)
    problems.push(`the new rates are of ${next.date}, the present ones of ${previous.date}`);
  for (const [code, before] of Object.entries(previous.rates)) {
    const now = next.rates[code];
    if (now === undefined) {
      problems.push(`${code}: it has no rate any more`);
      continue;
    }
    const change = new Big(now).minus(before).div(before);
    if (change.abs().gt(maxJump) && !accepted.includes(code))
      problems.push(
        `${code}: ${before} became ${now} (${change.times(100).toFixed(1)} %); --accept ${code} takes it`,
      );
  }
  return problems;
}

/** The snapshots before the next one, the latest first: one for each day. @param previous undefined where there is none */
export function keepEarlier(earlier, previous, next) {
  const kept = [...(previous ? [previous] : []), ...earlier];
  return kept.filter(({ date }) => date !== next.date).sort((a, b) => (a.date < b.date ? 1 : -1));
}

/**
 * The rate of one currency, checked against its inverse. @throws Error when they disagree or are not positive
 * numbers
 */
export function readRate(code, usdPerUnit, unitsPerUsd) {
  const rate = new Big(String(usdPerUnit));
  const product = rate.times(String(unitsPerUsd));
  if (rate.lte(0) || product.minus(1).abs().gt(maxInverseError))
    throw new Error(
      `${code}: USD ${usdPerUnit} per unit and ${unitsPerUsd} units per USD contradict each other`,
    );
  return rate.toFixed();
}

/** The codes in the currency table. It is read as text, because this script runs without a TypeScript loader. */
export function listCodes(source) {
  const table = source.slice(source.indexOf("byDecimals"), source.indexOf("};"));
  return [...new Set(table.match(/\b[A-Z]{3}\b/g))].sort();
}

function download(version, folder) {
  const options = { encoding: "utf8", cwd: folder };
  const packed = execFileSync("npm", ["pack", `${packageName}@${version}`, "--silent"], options);
  execFileSync("tar", ["-xzf", packed.trim().split("\n").at(-1)], options);
  return join(folder, "package");
}

function build(folder) {
  const readJson = (...path) => JSON.parse(readFileSync(join(folder, ...path), "utf8"));
  const { version } = readJson("package.json");
  const { date, usd } = readJson("v1", "currencies", "usd.json");
  const codes = listCodes(readFileSync(currenciesPath, "utf8"));
  const rates = {};
  for (const code of codes) {
    const name = code.toLowerCase();
    if (code !== "USD")
      rates[code] = readRate(code, readJson("v1", "currencies", `${name}.json`)[name].usd, usd[name]);
  }
  return { date, source: `${packageName} ${version}`, rates };
}

function readIfAny(path) {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    if (error.code === "ENOENT") return undefined;
    throw error;
  }
}

function main() {
  const { values } = parseArgs({
    options: { version: { type: "string", default: "latest" }, accept: { type: "string", multiple: true } },
  });
  const folder = mkdtempSync(join(tmpdir(), "rates-"));
  try {
    const next = build(download(values.version, folder));
    const previous = readIfAny(snapshotPath);
    const problems = findProblems(previous, next, values.accept);
    if (problems.length > 0) {
      process.stderr.write(`The rates were not replaced:\n${problems.map((line) => `  ${line}\n`).join("")}`);
      process.exitCode = 1;
      return;
    }
    const earlier = keepEarlier(readIfAny(earlierPath) ?? [], previous, next);
    writeFileSync(earlierPath, `${JSON.stringify(earlier, null, 2)}\n`);
    writeFileSync(snapshotPath, `${JSON.stringify(next, null, 2)}\n`);
    process.stdout.write(`${Object.keys(next.rates).length} rates of ${next.date} from ${next.source}\n`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
