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
import { curColumnsRead, isCur } from "@/lib/bills/cur-columns";
import { focusColumnsRead, isFocus } from "@/lib/bills/focus-columns";
import { maxBillRows } from "@/lib/contract/bills/bill-fields";
import { DecimalError, parseDecimal, shiftDecimal, toText } from "@/lib/decimal";
import { FileError } from "@/lib/ledger/import/row";
import { checkPages, maxPageBytes } from "./check-pages";

/** A table as text. `read`: the columns that `rows` contain, in order. A cell without a value is an empty text. */
export type ParquetTable = { header: string[]; read: string[]; rows: string[][] };

/** What is read of columns that are maps, such as tags: the keys that are wanted, by column. */
export type WantedMaps = Readonly<Record<string, readonly string[]>>;

/** What the process that reads a file is given. */
export type ParquetQuestion = { bytes: Uint8Array; maps: WantedMaps };

/** The answer of the process that reads a file. */
export type ParquetAnswer = { table: ParquetTable } | { problem: string };

/** The maximum number of cells in a table. */
const maxCells = 4_000_000;
/** The maximum precision of decimals, as in Arrow and Spark. */
const decimalLimits = { digits: 76, bytes: 32 };

/** The supported compressions. Each limits its output to the size in the page's header. */
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

/** Converts dates and times to text in UTC, to the millisecond. */
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
 * Reads a Parquet file. From a file with the columns of FOCUS or CUR it reads only those that are needed, from any other all columns that are not
 * nested. Decimals are read digit by digit and never become floating-point numbers. Of a map, the wanted keys are read, as JSON, unless
 * all its values are too many.
 * @throws FileError with what is wrong
 */
export async function readParquet(bytes: Uint8Array, maps: WantedMaps = {}): Promise<ParquetTable> {
  const metadata = readMetadata(bytes);
  if (metadata.num_rows > BigInt(maxBillRows))
    throw new FileError(`it has more than ${maxBillRows} rows. Split it by month`);
  const elements = topColumns(metadata);
  const header = elements.map(({ name }) => name);
  const flat = elements.filter((element) => !element.num_children && element.repetition_type !== "REPEATED");
  const known = isFocus(header) ? focusColumnsRead : isCur(header) ? curColumnsRead : undefined;
  const wanted = flat.filter(({ name }) => known === undefined || known.includes(name));
  if (Number(metadata.num_rows) * wanted.length > maxCells)
    throw new FileError(
      `it has ${metadata.num_rows} rows of ${wanted.length} columns. Export fewer columns, or split it by month`,
    );
  const mapped = elements.filter(
    (element) => known && isMap(element) && maps[element.name] && isShort(metadata, element),
  );
  // Before the library is told to forget that they are decimals, which it would read as floating-point numbers.
  const columns = [
    ...wanted.map((element) => ({ name: element.name, read: readerOf(element) })),
    ...mapped.map(({ name }) => ({ name, read: (value: unknown) => jsonOf(value, maps[name] ?? []) })),
  ];
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

/** Like `readParquet`, but returns an error as a value, because errors cannot be sent between processes. */
export async function answerParquet({ bytes, maps }: ParquetQuestion): Promise<ParquetAnswer> {
  try {
    return { table: await readParquet(bytes, maps) };
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

/** Converts an error of the library to a refusal. */
function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const [, codec] = /unsupported compression codec: (\w+)/.exec(message) ?? [];
  if (codec) return `it is compressed with ${codec}. Write it with Snappy, Gzip or Zstandard`;
  return `it is damaged (${message.replace(/^parquet /, "").slice(0, 200)}). Export it again`;
}

/** The top-level columns, in order. */
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

const isMap = ({ num_children: children, converted_type: converted, logical_type: logical }: SchemaElement) =>
  Boolean(children) && (converted === "MAP" || logical?.type === "MAP");

/** Whether a nested column has no more values than a table may have cells. */
const isShort = ({ row_groups: groups }: FileMetaData, { name }: SchemaElement) =>
  groups
    .flatMap(({ columns }) => columns)
    .every(
      ({ meta_data: chunk }) => chunk?.path_in_schema[0] !== name || Number(chunk.num_values) <= maxCells,
    );

/** The wanted keys of a map, as JSON; an empty text where it has none of them. */
function jsonOf(value: unknown, keys: readonly string[]): string {
  const map = Object(value) as Record<string, unknown>;
  const found = keys.filter((key) => Object.hasOwn(map, key)).map((key) => [key, textOf(map[key])]);
  return found.length === 0 ? "" : JSON.stringify(Object.fromEntries(found));
}

const isDecimal = ({ converted_type: converted, logical_type: logical }: SchemaElement) =>
  converted === "DECIMAL" || logical?.type === "DECIMAL";

/** Returns a function that converts a column's values to text. @throws FileError if the column's type is not supported */
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

/** Reads a big-endian number in two's complement. */
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

/** The shortest decimal that identifies a 32-bit floating-point number. @throws DecimalError */
function shortestText(value: number): string {
  for (let digits = 1; digits < 9; digits += 1) {
    const text = value.toPrecision(digits);
    if (Math.fround(Number(text)) === value) return toText(parseDecimal(text));
  }
  return toText(parseDecimal(value.toPrecision(9)));
}
