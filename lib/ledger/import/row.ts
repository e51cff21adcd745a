/** A row of a file: its columns' values as text, an empty one being none. */
export type Row = { line: number; values: Readonly<Record<string, string>> };

/** A file that cannot be read as what it says it is, or a row of it. */
export class FileError extends Error {
  override name = "FileError";
}

/** A row as a file gives it, or what is wrong with it; `line` is the line it ends on, the header being line 1. */
export type ReadRow = Row | (FileError & { line: number });

/**
 * The columns that a header names.
 * @throws FileError where one is there twice: nobody could say which is meant
 */
export function parseHeader(record: readonly string[]): string[] {
  const columns = record.map((name) => name.trim());
  const twice = columns.find((name, index) => columns.indexOf(name) !== index);
  if (twice !== undefined) throw new FileError(`The column "${twice}" is there twice.`);
  return columns;
}

/** The row of a record below the header, or what is wrong with it. */
export function parseRecord(record: readonly string[], columns: readonly string[], line: number): ReadRow {
  if (record.length !== columns.length) {
    const text = `the row has ${record.length} columns, the header ${columns.length}`;
    return Object.assign(new FileError(text), { line });
  }
  return { line, values: Object.fromEntries(columns.map((column, index) => [column, record[index] ?? ""])) };
}

/** The sign that a file's header is cut up by. */
export function guessDelimiter(header: string): string {
  return [",", ";", "\t"].sort((a, b) => header.split(b).length - header.split(a).length)[0] ?? ",";
}

/** How a CSV file is read, on a server and in a browser alike: a row's line is part of the key it is recorded once by. */
export const csvOptions = { bom: true, relax_column_count: true, skip_empty_lines: true } as const;
