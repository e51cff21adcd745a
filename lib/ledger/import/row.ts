/** A row of a file: the values of its columns as text. An empty text means no value. */
export type FileRow = { line: number; values: Readonly<Record<string, string>> };

/** A file or one of its rows cannot be read in its format. */
export class FileError extends Error {
  override name = "FileError";
}

/** A row, or why it cannot be read. `line` is the line on which the row ends; the header is line 1. */
export type ReadRow = FileRow | (FileError & { line: number });

/**
 * The columns of a header.
 * @throws FileError if two columns have the same name
 */
export function parseHeader(record: readonly string[]): string[] {
  const columns = record.map((name) => name.trim());
  const twice = columns.find((name, index) => columns.indexOf(name) !== index);
  if (twice !== undefined) throw new FileError(`The column "${twice}" is there twice.`);
  return columns;
}

/** Converts a record to a row, or returns a FileError. @param line on which the record ends */
export function parseRecord(record: readonly string[], columns: readonly string[], line: number): ReadRow {
  if (record.length !== columns.length) {
    const text = `the row has ${record.length} columns, the header ${columns.length}`;
    return Object.assign(new FileError(text), { line });
  }
  return { line, values: Object.fromEntries(columns.map((column, index) => [column, record[index] ?? ""])) };
}

/** Guesses the delimiter from a file's header: comma, semicolon or tab. */
export function guessDelimiter(header: string): string {
  return [",", ";", "\t"].sort((a, b) => header.split(b).length - header.split(a).length)[0] ?? ",";
}

/** The options of the CSV parser. Server and browser must agree, because a row's line is part of its idempotency key. */
export const csvOptions = { bom: true, relax_column_count: true, skip_empty_lines: true } as const;
