import { once } from "node:events";
import { createWriteStream, type WriteStream } from "node:fs";
import { resolve } from "node:path";
import { createInterface } from "node:readline/promises";
import { parseArgs } from "node:util";
import { env } from "@/lib/env";
import { chooseMapping, fieldNames, type Mapping } from "@/lib/ledger/import/fields";
import { Poster } from "@/lib/ledger/import/poster";
import { type FileFacts, inspectFile, readRows } from "@/lib/ledger/import/read-file";
import { refusedHeader, refusedLine } from "@/lib/ledger/import/refused-row";
import type { FileRow } from "@/lib/ledger/import/row";
import { type ImportOptions, importRows, type Summary } from "@/lib/ledger/import/service";

const help = `npm run import -- FILE.csv|FILE.jsonl [options]

Records the rows of a file. Shows the mapping of columns, checks with the service which rows it would refuse, then asks for
confirmation. Running it again, also after an interruption, records no row twice. A changed file counts as another file,
unless --id-column identifies its rows.

  --map FIELD=COLUMN    the column of a field; may be repeated. Fields: ${fieldNames.join(" ")}
  --set FIELD=VALUE     the value for every row without one
  --project-column COL  short for --map project=COL
  --decimals MARK       how numbers are written: comma (1.234,56) or point (1,234.56); without it, digits with a point
  --dates ORDER         how dates with numbers are written: dmy (31/12/2026) or mdy; without it, YYYY-MM-DD
  --id-column COL       the column with your own row ids; without it, the file's content and the line identify a row
  --url URL             the service; SVC_BASE_URL, else http://127.0.0.1:3000
  --key KEY             the API key; else SVC_API_KEY
  --yes                 records without asking
  --no-dry-run          skips the trial

Exits with 0 when every row is recorded, 1 when some were refused or nothing was recorded yet, 2 when it could not run.
`;

/**
 * Runs the command. @param callerDir the folder to which the caller's file names are relative. @returns its exit status
 */
export async function main(args: string[], callerDir: string): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    allowNegative: true,
    options: {
      map: { type: "string", multiple: true, default: [] },
      set: { type: "string", multiple: true, default: [] },
      "project-column": { type: "string" },
      "id-column": { type: "string" },
      decimals: { type: "string" },
      dates: { type: "string" },
      url: { type: "string" },
      key: { type: "string" },
      yes: { type: "boolean", default: false },
      "dry-run": { type: "boolean", default: true },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  const [file] = positionals;
  if (values.help || file === undefined) {
    process.stdout.write(help);
    return values.help ? 0 : 2;
  }
  const { SVC_API_KEY, SVC_BASE_URL } = env();
  const key = values.key ?? SVC_API_KEY;
  if (key === undefined) throw new Error("Name the API key to record with: --key, or SVC_API_KEY.");
  const path = resolve(callerDir, file);
  const facts = await inspectFile(path);
  const projectColumn = values["project-column"];
  const mapping = {
    ...chooseMapping(facts.columns, {
      map: { ...pairs(values.map), ...(projectColumn !== undefined && { project: projectColumn }) },
      set: pairs(values.set),
    }),
    readings: {
      decimals: oneOf("--decimals", ["point", "comma"], values.decimals),
      dates: oneOf("--dates", ["dmy", "mdy"], values.dates),
    },
  };
  const idColumn = values["id-column"];
  if (idColumn !== undefined && !facts.columns.includes(idColumn)) {
    throw new Error(`There is no column "${idColumn}"; there are: ${facts.columns.join(", ")}.`);
  }
  say(describeMapping(file, mapping, idColumn));
  const url = (values.url ?? SVC_BASE_URL ?? "http://127.0.0.1:3000").replace(/\/+$/, "");
  const poster = new Poster({
    endpoint: `${url}/api/v1/messages/batch`,
    headers: { authorization: `Bearer ${key}` },
    onWait: (reason, ms) =>
      process.stderr.write(`\n${reason}\nTrying again in ${(ms / 1000).toFixed(1)} s.\n`),
  });
  const common = {
    path,
    facts,
    fileHash: facts.hash,
    mapping,
    poster,
    ...(idColumn !== undefined && { idColumn }),
  };
  if (values["dry-run"]) {
    const trial = await run({ ...common, dryRun: true }, "trial");
    say(describeSummary(trial, true));
    if (!values.yes && !(await confirm(trial))) return 1;
  } else if (!values.yes) {
    throw new Error("--no-dry-run requires --yes: without the trial there is nothing to confirm.");
  }
  const refused = new RefusedFile(`${path}.refused.csv`, facts.columns);
  const summary = await run(
    { ...common, dryRun: false, onRefused: (row, reason) => refused.add(row, reason) },
    "import",
  ).finally(() => refused.close());
  say(describeSummary(summary, false));
  if (summary.refused > 0)
    say(
      `The refused rows are in ${refused.path}: correct them there and import that file, not this one again.`,
    );
  return summary.refused === 0 ? 0 : 1;
}

const say = (text: string) => process.stdout.write(`${text}\n`);

function pairs(list: string[]): Record<string, string> {
  return Object.fromEntries(
    list.map((pair) => {
      const at = pair.indexOf("=");
      if (at < 1) throw new Error(`"${pair}" is not NAME=VALUE.`);
      return [pair.slice(0, at), pair.slice(at + 1)];
    }),
  );
}

function describeMapping(file: string, { columns, constants, unused }: Mapping, idColumn?: string): string {
  const lines = [
    ...Object.entries(columns).map(([field, column]) => `  ${field.padEnd(20)} column ${column}`),
    ...Object.entries(constants).map(([field, value]) => `  ${field.padEnd(20)} always ${value}`),
    `  ${"known by".padEnd(20)} ${idColumn === undefined ? "the file's content and the line" : `column ${idColumn}`}`,
  ];
  const left = unused.filter((column) => column !== idColumn);
  if (left.length > 0) lines.push(`  ${"not imported".padEnd(20)} ${left.join(", ")}`);
  return [`${file}:`, ...lines].join("\n");
}

/** The value of an option with a few allowed values. @throws Error that lists them */
function oneOf<Value extends string>(
  option: string,
  allowed: readonly Value[],
  given: string | undefined,
): Value | undefined {
  const value = allowed.find((candidate) => candidate === given);
  if (given !== undefined && value === undefined) throw new Error(`${option} is ${allowed.join(" or ")}.`);
  return value;
}

function describeSummary(summary: Summary, trial: boolean): string {
  const { rows, recorded, replayed, refused, adjusting, reasons } = summary;
  const count = (value: number) => value.toLocaleString("en-US");
  const would = trial ? "would be " : "";
  const before = replayed > 0 ? `, ${count(replayed)} were before` : "";
  const lines = [
    `${count(rows)} rows: ${count(recorded)} ${would}recorded${before}, ${count(refused)} ${would}refused.`,
  ];
  if (adjusting > 0)
    lines.push(`${count(adjusting)} rows of closed months ${would || "were "}booked now, as adjustments.`);
  for (const { reason, count: times, lines: at } of reasons.slice(0, 20)) {
    lines.push(
      `  ${count(times).padStart(9)} × ${reason} (line${at.length > 1 ? "s" : ""} ${at.join(", ")}${times > at.length ? ", …" : ""})`,
    );
  }
  if (reasons.length > 20) lines.push(`  and ${count(reasons.length - 20)} other reasons`);
  return lines.join("\n");
}

/** Asks for confirmation on a terminal. Without a terminal, prints how to proceed. */
async function confirm({ recorded, refused }: Summary): Promise<boolean> {
  if (!process.stdin.isTTY) {
    say("Nothing is recorded yet: run it again with --yes.");
    return false;
  }
  const prompt = createInterface({ input: process.stdin, output: process.stdout });
  const rest = refused > 0 ? ` and leave out ${refused}` : "";
  const answer = await prompt.question(`Record ${recorded} rows${rest}? [y/N] `);
  prompt.close();
  return /^y(es)?$/i.test(answer.trim());
}

type Run = Omit<ImportOptions, "rows"> & { path: string; facts: FileFacts };

/** Runs one pass, with a progress bar if standard error is a terminal. */
async function run(options: Run, name: string): Promise<Summary> {
  const rows = readRows(options.path, options.facts);
  if (!process.stderr.isTTY) return importRows({ ...options, rows });
  const sinceMs = performance.now();
  const width = 24;
  const onProgress = (summary: Summary, line: number) => {
    const part = Math.min(1, line / Math.max(1, options.facts.lines));
    const seconds = (performance.now() - sinceMs) / 1000;
    const bar = "█".repeat(Math.round(part * width)).padEnd(width, "░");
    const left = part > 0 ? Math.ceil((seconds / part) * (1 - part)) : 0;
    process.stderr.write(
      `\r\u001b[K${name} ${bar} ${(part * 100).toFixed(0)} %  ${summary.rows.toLocaleString("en-US")} rows  ${Math.round(summary.rows / seconds).toLocaleString("en-US")}/s  ${left} s left`,
    );
  };
  const summary = await importRows({ ...options, rows, onProgress });
  process.stderr.write("\r\u001b[K");
  return summary;
}

/** Writes refused rows to a file: their line, the reason and all their columns, to be corrected and imported again. */
class RefusedFile {
  #stream: WriteStream | undefined;

  constructor(
    readonly path: string,
    private readonly columns: readonly string[],
  ) {}

  /** Writes a row. The file is created with the first refused row. */
  add(row: Partial<FileRow> & { line: number }, reason: string): void {
    if (!this.#stream) {
      this.#stream = createWriteStream(this.path);
      this.#stream.write(refusedHeader(this.columns));
    }
    this.#stream.write(refusedLine(this.columns, row, reason));
  }

  /** Resolves when everything is written. */
  async close(): Promise<void> {
    if (!this.#stream) return;
    this.#stream.end();
    await once(this.#stream, "close");
  }
}
