import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { type Options as CsvOptions, type Parser, parse as parseCsv } from "csv-parse";
import { parse as parseJson } from "lossless-json";
import { csvOptions, FileError, guessDelimiter, parseHeader, parseRecord, type ReadRow } from "./row";

export type FileFormat = "csv" | "jsonl";

/** The result of the first pass over a file. `hash`: the SHA-256 of its content in hex. */
export type FileFacts = {
  format: FileFormat;
  hash: string;
  /** The number of line ends, about the number of rows. */
  lines: number;
  columns: string[];
  delimiter: string;
};

/** The number of rows of a JSONL file whose members are collected as columns. */
const sampledRows = 100;

/** Hashes a file and finds its format and columns. @throws FileError; Node's error if the file does not exist */
export async function inspectFile(path: string): Promise<FileFacts> {
  const format: FileFormat = /\.(jsonl|ndjson|json)$/i.test(path) ? "jsonl" : "csv";
  const hash = createHash("sha256");
  let lineEnds = 0;
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    hash.update(chunk);
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) lineEnds += 1;
  }
  const facts = { format, hash: hash.digest("hex"), lines: lineEnds };
  if (format === "jsonl") {
    const names = new Set<string>();
    let sampled = 0;
    for await (const row of readRows(path, { ...facts, columns: [], delimiter: "" })) {
      if (!(row instanceof FileError)) for (const name of Object.keys(row.values)) names.add(name);
      sampled += 1;
      if (sampled >= sampledRows) break;
    }
    return { ...facts, columns: [...names], delimiter: "" };
  }
  const delimiter = guessDelimiter(await firstLine(path));
  return { ...facts, columns: await headerOf(path, delimiter), delimiter };
}

async function firstLine(path: string): Promise<string> {
  for await (const line of lines(path)) return line;
  throw new FileError(`${path} is empty.`);
}

async function* lines(path: string): AsyncGenerator<string> {
  const stream = createReadStream(path);
  try {
    yield* createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY });
  } finally {
    stream.destroy();
  }
}

/** A parser that reads a file. It fails with the errors of the file too, which a pipe does not forward. */
function parserOf(path: string, options: CsvOptions): Parser {
  const stream = createReadStream(path);
  const parser = stream.pipe(parseCsv(options));
  stream.on("error", (error) => parser.destroy(error));
  parser.on("close", () => stream.destroy());
  return parser;
}

async function headerOf(path: string, delimiter: string): Promise<string[]> {
  for await (const record of parserOf(path, { bom: true, delimiter, to: 1, relax_column_count: true })) {
    return parseHeader(record);
  }
  throw new FileError(`${path} has no header line.`);
}

/**
 * The rows of a file in order. Only a few are in memory at a time.
 */
export async function* readRows(path: string, facts: FileFacts): AsyncGenerator<ReadRow> {
  if (facts.format === "jsonl") yield* readJsonLines(path);
  else yield* readCsv(path, facts);
}

async function* readCsv(path: string, { columns, delimiter }: FileFacts) {
  const parser = parserOf(path, { ...csvOptions, delimiter, from: 2, info: true });
  for await (const { info, record } of parser as AsyncIterable<{
    info: { lines: number };
    record: string[];
  }>) {
    yield parseRecord(record, columns, info.lines);
  }
}

async function* readJsonLines(path: string) {
  let line = 0;
  for await (const text of lines(path)) {
    line += 1;
    if (text.trim() === "") continue;
    try {
      // Numbers stay text, so that they lose no digit.
      const value = parseJson(text.replace(/^\uFEFF/, ""), null, { parseNumber: (digits) => digits });
      if (typeof value !== "object" || value === null || Array.isArray(value)) {
        throw new SyntaxError("the line is not a JSON object");
      }
      yield { line, values: flatten(value as Record<string, unknown>) };
    } catch (error) {
      yield Object.assign(new FileError(error instanceof Error ? error.message : String(error)), { line });
    }
  }
}

/** The members of an object by path: `{ "message": { "model": … } }` has `message.model`. Arrays are omitted. */
function flatten(value: Record<string, unknown>, before = ""): Record<string, string> {
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, inner]): [string, string][] => {
      if (inner === null || Array.isArray(inner)) return [];
      if (typeof inner === "object")
        return Object.entries(flatten(inner as Record<string, unknown>, `${before}${name}.`));
      return [[`${before}${name}`, String(inner)]];
    }),
  );
}
