import { gunzipSync } from "node:zlib";
import { decompress as decompressZstd } from "fzstd";
import {
  type Compressors,
  type FileMetaData,
  parquetMetadata,
  parquetReadObjects,
  type SchemaElement,
  snappyUncompress,
} from "hyparquet";
import { focusColumnsRead, isFocus } from "@/lib/bills/focus-columns";
import { maxBillRows } from "@/lib/contract/bills/bill-fields";
import { DecimalError, parseDecimal, shiftDecimal, toText } from "@/lib/decimal";
import { FileError } from "@/lib/ledger/import/row";
import { checkPages, maxPageBytes } from "./check-pages";

/** A table of a file as text. `read` names the columns whose cells `rows` has; a cell without a value is empty. */
export type ParquetTable = { header: string[]; read: string[]; rows: string[][] };

/** What the process that reads a file answers. */
export type ParquetAnswer = { table: ParquetTable } | { problem: string };

/** The most cells of a table that are read. */
const maxCells = 4_000_000;
/** Decimals as wide as the widest of Arrow and Spark. */
const decimalLimits = { digits: 76, bytes: 32 };

/** The compressions that are read. A page is never larger than its header says. */
const compressors: Compressors = {
  SNAPPY: (input, length) => {
    const output = new Uint8Array(atMostAPage(length));
    snappyUncompress(input, output);
    return output;
  },
  GZIP: (input, length) => gunzipSync(input, { maxOutputLength: Math.max(1, atMostAPage(length)) }),
  ZSTD: (input, length) => decompressZstd(input, new Uint8Array(atMostAPage(length))),
};

function atMostAPage(length: number): number {
  if (length >= 0 && length <= maxPageBytes) return length;
  throw new FileError(`a page of it has ${length} bytes`);
}

/** Times as their text, UTC, without what they have below a millisecond. */
const isoOf = (ms: number | bigint) => new Date(Number(ms)).toISOString();
const utf8 = new TextDecoder();
const parsers = {
  timestampFromMilliseconds: isoOf,
  timestampFromMicroseconds: (micros: bigint) => isoOf(micros / 1000n),
  timestampFromNanoseconds: (nanos: bigint) => isoOf(nanos / 1_000_000n),
  dateFromDays: (days: number) => isoOf(days * 86_400_000).slice(0, 10),
  stringFromBytes: (bytes: Uint8Array | undefined) => bytes && utf8.decode(bytes),
  jsonFromBytes: (bytes: Uint8Array | undefined) => bytes && utf8.decode(bytes),
};

/**
 * Reads a Parquet file: of one with the columns of FOCUS those that are needed, otherwise all that are not nested. Decimals are read from
 * their digits and never become floating-point numbers.
 * @throws FileError with what is wrong
 */
export async function readParquet(bytes: Uint8Array): Promise<ParquetTable> {
  const metadata = readMetadata(bytes);
  if (metadata.num_rows > BigInt(maxBillRows))
    throw new FileError(`it has more than ${maxBillRows} rows. Split it by month`);
  const elements = topColumns(metadata);
  const header = elements.map(({ name }) => name);
  const flat = elements.filter((element) => !element.num_children && element.repetition_type !== "REPEATED");
  const wanted = isFocus(header) ? flat.filter(({ name }) => focusColumnsRead.includes(name)) : flat;
  if (Number(metadata.num_rows) * wanted.length > maxCells)
    throw new FileError(
      `it has ${metadata.num_rows} rows of ${wanted.length} columns. Export fewer columns, or split it by month`,
    );
  // Before the library is told to forget that they are decimals, which it would read as floating-point numbers.
  const columns = wanted.map((element) => ({ name: element.name, read: readerOf(element) }));
  for (const element of wanted.filter(isDecimal)) {
    delete element.converted_type;
    delete element.logical_type;
  }
  const read = columns.map(({ name }) => name);
  checkPages(bytes, metadata, read);
  const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer;
  const options = { file, metadata, columns: read, compressors, parsers, utf8: false };
  const found = await parquetReadObjects(options).catch((error: unknown) => {
    throw error instanceof FileError ? error : new FileError(reasonOf(error));
  });
  const rows = found.map((row, index) =>
    columns.map(({ name, read: textOf }) => {
      try {
        return textOf(row[name]);
      } catch (error) {
        if (!(error instanceof DecimalError)) throw error;
        throw new FileError(`row ${index + 1}: ${name} is ${error.message}`);
      }
    }),
  );
  return { header, read, rows };
}

/** The same, as the process that reads a file answers. */
export async function answerParquet(bytes: Uint8Array): Promise<ParquetAnswer> {
  try {
    return { table: await readParquet(bytes) };
  } catch (error) {
    if (error instanceof FileError) return { problem: error.message };
    throw error;
  }
}

function readMetadata(bytes: Uint8Array): FileMetaData {
  try {
    return parquetMetadata(bytes, { geoparquet: false });
  } catch (error) {
    throw new FileError(reasonOf(error));
  }
}

/** What the library says, in the words of a refusal. */
function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const [, codec] = /unsupported compression codec: (\w+)/.exec(message) ?? [];
  if (codec) return `it is compressed with ${codec}. Write it with Snappy, Gzip or Zstandard`;
  return `it is damaged (${message.replace(/^parquet /, "").slice(0, 200)}). Export it again`;
}

/** The columns on the first level, in their order. */
function topColumns({ schema }: FileMetaData): SchemaElement[] {
  const found: SchemaElement[] = [];
  const skip = (at: number): number => {
    let next = at + 1;
    for (let child = 0; child < (schema[at]?.num_children ?? 0) && next < schema.length; child += 1)
      next = skip(next);
    return next;
  };
  for (let at = 1; at < schema.length; at = skip(at)) found.push(schema[at] as SchemaElement);
  return found;
}

const isDecimal = ({ converted_type: converted, logical_type: logical }: SchemaElement) =>
  converted === "DECIMAL" || logical?.type === "DECIMAL";

/** How a value of a column becomes text. @throws FileError where the column cannot be read */
function readerOf(element: SchemaElement): (value: unknown) => string {
  const { name, type, scale = 0, precision = 0, type_length: length = 0 } = element;
  if (!isDecimal(element)) return type === "FLOAT" ? (value) => textOf(value, shortestText) : textOf;
  if (
    scale < 0 ||
    scale > decimalLimits.digits ||
    precision > decimalLimits.digits ||
    length > decimalLimits.bytes
  )
    throw new FileError(`${name} has decimals of more than ${decimalLimits.digits} digits`);
  return (value) => {
    if (value === null || value === undefined) return "";
    const unscaled = value instanceof Uint8Array ? integerOf(value, name) : (value as number | bigint);
    return toText(shiftDecimal(parseDecimal(unscaled), -scale));
  };
}

/** A number in two's complement, the highest byte first. */
function integerOf(bytes: Uint8Array, name: string): bigint {
  if (bytes.length > decimalLimits.bytes)
    throw new FileError(`${name} has decimals of more than ${decimalLimits.digits} digits`);
  const digits = Buffer.from(bytes).toString("hex");
  return digits === "" ? 0n : BigInt.asIntN(bytes.length * 8, BigInt(`0x${digits}`));
}

/** @param textOfNumber of a floating-point number; by default its shortest text, as amounts in JSON are read */
function textOf(
  value: unknown,
  textOfNumber = (number: number): string => toText(parseDecimal(number)),
): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return textOfNumber(value);
  if (value instanceof Uint8Array) return utf8.decode(value);
  return String(value);
}

/** The shortest decimal that is this number of 32 bits. @throws DecimalError */
function shortestText(value: number): string {
  for (let digits = 1; digits < 9; digits += 1) {
    const text = value.toPrecision(digits);
    if (Math.fround(Number(text)) === value) return toText(parseDecimal(text));
  }
  return toText(parseDecimal(value.toPrecision(9)));
}
