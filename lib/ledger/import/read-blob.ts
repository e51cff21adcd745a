import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import { parse } from "csv-parse/browser/esm";
import { csvOptions, FileError, guessDelimiter, parseHeader, parseRecord, type ReadRow } from "./row";

/** The content of a CSV file. `hash` and the line numbers are the same as `read-file.ts` gives for the file. */
export type BlobContent = { hash: string; columns: string[]; rows: ReadRow[] };

/** The largest file that is read. The whole file is kept in memory. */
export type BlobLimits = { maxRows: number; maxBytes: number };

/** Bytes that are searched for the header line. */
const headBytes = 64 * 1024;

/**
 * Reads a CSV file in a browser. Does not hash with Web Crypto, which pages without TLS lack.
 * @throws FileError if the file is not CSV with a header, or exceeds a limit
 */
export async function readBlob(blob: Blob, { maxRows, maxBytes }: BlobLimits): Promise<BlobContent> {
  if (blob.size === 0) throw new FileError("The file is empty.");
  if (blob.size > maxBytes) {
    throw new FileError(`The file is larger than ${Math.floor(maxBytes / 1024 ** 2)} MiB.`);
  }
  const [head = ""] = (await blob.slice(0, headBytes).text()).split(/\r?\n/, 1);
  const hash = sha256.create();
  const rows: ReadRow[] = [];
  let columns: string[] | undefined;
  for await (const { record, line } of readRecords(blob, guessDelimiter(head), (chunk) =>
    hash.update(chunk),
  )) {
    if (columns === undefined) columns = parseHeader(record);
    else rows.push(parseRecord(record, columns, line));
    if (rows.length > maxRows) {
      throw new FileError(`The file has more than ${maxRows.toLocaleString("en-US")} rows.`);
    }
  }
  if (columns === undefined) throw new FileError("The file has no header line.");
  return { hash: bytesToHex(hash.digest()), columns, rows };
}

/** Yields the records of a blob, reading it chunk by chunk. @param onChunk called with every chunk, in order */
async function* readRecords(blob: Blob, delimiter: string, onChunk: (chunk: Uint8Array) => void) {
  const parser = parse({ ...csvOptions, delimiter, info: true });
  let parsed: { record: string[]; line: number }[] = [];
  let problem: Error | undefined;
  parser.on("data", ({ info, record }) => parsed.push({ record, line: info.lines }));
  parser.on("error", (error) => {
    problem = error;
  });
  // The parser's browser build accepts only text and its own kind of buffer.
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  const reader = blob.stream().getReader();
  try {
    for (;;) {
      const { value, done } = await reader.read();
      await new Promise<void>((resolve) => {
        const settle = () => resolve();
        parser.once("error", settle);
        if (done) parser.once("end", settle).end();
        else parser.write(decoder.decode(value, { stream: true }), settle);
      });
      if (value) onChunk(value);
      if (problem) throw new FileError(`The file cannot be read as CSV: ${problem.message}`);
      yield* parsed;
      parsed = [];
      if (done) return;
    }
  } finally {
    await reader.cancel();
  }
}
