import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { parse } from "csv-parse/sync";
import { maxBillCharacters, maxBillRows } from "@/lib/contract/bills/bill-fields";
import type { AddBillRequest } from "@/lib/contract/bills/bills";
import { csvOptions, FileError, guessDelimiter, parseHeader, parseRecord } from "@/lib/ledger/import/row";
import { readParquetApart } from "./parquet/read-apart";
import type { WantedMaps } from "./parquet/read-parquet";

/** A file as rows of text. `place`: the position of a row, such as `line 2`. */
export type BillTable = {
  header: string[];
  rows: { place: string; values: Readonly<Record<string, string>> }[];
};

const unzip = promisify(gunzip);

/**
 * Reads an uploaded file: CSV as text, or, in Base64, Parquet or CSV with or without gzip.
 * @param maps what is read of columns of Parquet that are maps, as JSON
 * @throws FileError with what is wrong
 */
export async function readTable(
  { content, encoding }: Pick<AddBillRequest, "content" | "encoding">,
  maps: WantedMaps,
): Promise<BillTable> {
  if (encoding === "text") return readCsv(content);
  const bytes = Buffer.from(content, "base64");
  if (bytes.subarray(0, 4).toString("latin1") === "PAR1") return readRows(bytes, maps);
  return readCsv(await textOf(bytes));
}

/** @throws FileError */
async function textOf(bytes: Buffer): Promise<string> {
  const isGzip = bytes[0] === 0x1f && bytes[1] === 0x8b;
  try {
    const plain = isGzip ? await unzip(bytes, { maxOutputLength: maxBillCharacters }) : bytes;
    return new TextDecoder("utf-8", { fatal: true }).decode(plain);
  } catch (error) {
    if ((error as { code?: unknown }).code === "ERR_BUFFER_TOO_LARGE")
      throw new FileError(`unzipped, it has more than ${maxBillCharacters} bytes. Split it by month`);
    throw new FileError("it is neither Parquet nor text in UTF-8, plain or zipped with gzip");
  }
}

async function readRows(bytes: Buffer, maps: WantedMaps): Promise<BillTable> {
  const { header, read, rows } = await readParquetApart(bytes, maps);
  return {
    header: parseHeader(header),
    rows: rows.map((cells, index) => ({
      place: `row ${index + 1}`,
      values: Object.fromEntries(read.map((name, column) => [name, cells[column] ?? ""])),
    })),
  };
}

function readCsv(content: string): BillTable {
  const [head = ""] = content.split(/\r?\n/, 1);
  const options = { ...csvOptions, delimiter: guessDelimiter(head), info: true, to: maxBillRows + 2 };
  // Its types do not know what `info` adds.
  const records = parse(content, options) as unknown as { record: string[]; info: { lines: number } }[];
  const [first, ...others] = records;
  if (!first) throw new FileError("it is empty");
  if (others.length > maxBillRows)
    throw new FileError(`it has more than ${maxBillRows} rows. Split it by month`);
  const header = parseHeader(first.record);
  const rows = others.map(({ record, info }) => {
    const row = parseRecord(record, header, info.lines);
    if (row instanceof FileError) throw new FileError(`line ${row.line}: ${row.message}`);
    return { place: `line ${row.line}`, values: row.values };
  });
  return { header, rows };
}
