import { createHash } from "node:crypto";
import { type BillField, billFields } from "@/lib/contract/bills/bill-fields";
import type { AddBillRequest } from "@/lib/contract/bills/bills";
import { add, type Decimal, zero } from "@/lib/decimal";
import { type Issue, type ServiceError, validationFailed } from "@/lib/errors";
import { addDays } from "@/lib/spend/period";
import { readCurRow } from "./cur";
import { curColumns, isCur, missingInCur } from "./cur-columns";
import { readFocusRow } from "./focus";
import { focusColumns, isFocus } from "./focus-columns";
import { chooseMark, readBilledRow, readCoordinates } from "./read-row";
import { type BillTable, readTable } from "./read-table";
import { type BilledRow, type Statement, toStatements } from "./statements";
import { type ChosenTag, mapsOf, memberOf, readChosenTag, type TaggedField, taggedFields } from "./tags";

/** A file of a bill as it was read. */
export type BillFile = {
  format: "csv" | "focus" | "cur";
  sha256: string;
  columns: Partial<Record<BillField, string>>;
  unused: string[];
  rowCount: number;
  leftOutCount: number;
  leftOut: Decimal;
  statements: Statement[];
};

type Given = Pick<AddBillRequest, "content" | "encoding" | "columns" | "constants" | "amounts_in">;
type Values = Readonly<Record<string, string>>;

/** The most problems of rows that an error names. */
const maxIssues = 20;

const refuse = (message: string, path = "content"): ServiceError => validationFailed([{ path, message }]);

/** Reads a file. @throws ServiceError validation_failed with what is wrong in which line, or that it bills nothing */
export async function readBillFile(request: Given): Promise<BillFile> {
  const file = await parseBillFile(request);
  if (file.statements.length > 0) return file;
  const why = file.leftOutCount > 0 ? "of the service category AI and Machine Learning" : "below its header";
  throw refuse(`has no row ${why}`);
}

/** Like `readBillFile`, also of a file that bills nothing. @throws ServiceError validation_failed */
export async function parseBillFile(request: Given): Promise<BillFile> {
  const { header, rows } = await openTable(request);
  const { format, columns, read } = readerOf(
    header,
    rows.map(({ values }) => values),
    request,
  );
  const issues: Issue[] = [];
  const kept: BilledRow[] = [];
  let [leftOutCount, leftOut] = [0, zero];
  for (const { place, values } of rows) {
    const found = read(values);
    if ("problem" in found) issues.push({ path: "content", message: `${place}: ${found.problem}` });
    else if ("leftOut" in found) [leftOutCount, leftOut] = [leftOutCount + 1, add(leftOut, found.leftOut)];
    else kept.push(found);
    if (issues.length >= maxIssues) break;
  }
  if (issues.length > 0) throw validationFailed(issues);
  const taken = new Set(Object.values(columns));
  return {
    ...{ format, columns, leftOutCount, leftOut },
    sha256: createHash("sha256").update(request.content).digest("hex"),
    unused: header.filter((name) => !taken.has(name)),
    rowCount: rows.length,
    statements: toStatements(format === "csv" ? kept : onDays(kept)),
  };
}

type Reader = (values: Values) => BilledRow | { problem: string } | { leftOut: Decimal };

/** What a file is, by its columns, and how its rows are read. @throws ServiceError validation_failed */
function readerOf(
  header: readonly string[],
  rows: readonly Values[],
  request: Given,
): Pick<BillFile, "format" | "columns"> & { read: Reader } {
  const tags = chosenTags(request);
  if (isFocus(header)) {
    const columns = focusColumns(header);
    const read = (values: Values) => readFocusRow(values, columns);
    return { format: "focus", columns: withTags(columns, header, tags), read: taggedBy(tags, read) };
  }
  if (isCur(header)) {
    const missing = missingInCur(header);
    if (missing.length > 0)
      throw refuse(`is an export of CUR 2.0 without ${missing.join(", ")}. Export these columns, too`);
    return {
      format: "cur",
      columns: withTags(curColumns(header), header, tags),
      read: taggedBy(tags, readCurRow),
    };
  }
  const columns = findColumns(header, request);
  return { format: "csv", columns, read: rowReader(columns, rows, request) };
}

/** A tag that was chosen as the key or the person of rows. */
type FieldTag = ChosenTag & { field: TaggedField };

const chosenTags = ({ columns }: Given): FieldTag[] =>
  taggedFields.flatMap((field) => {
    const tag = readChosenTag(columns?.[field]);
    return tag ? [{ field, ...tag }] : [];
  });

/** Columns with the chosen tags. @throws ServiceError validation_failed where the file has no such tags */
function withTags(
  columns: BillFile["columns"],
  header: readonly string[],
  tags: readonly FieldTag[],
): BillFile["columns"] {
  for (const { column, field } of tags)
    if (!header.includes(column))
      throw refuse(`There is no column "${column}"; there are: ${header.join(", ")}`, `columns.${field}`);
  return {
    ...columns,
    ...Object.fromEntries(tags.map(({ field, column, key }) => [field, `${column}.${key}`])),
  };
}

/** Reads rows with tags as their key and person; those without a tag keep what they have. */
function taggedBy(tags: readonly FieldTag[], read: Reader): Reader {
  return (values) => {
    const found = read(values);
    if ("problem" in found || "leftOut" in found) return found;
    const tagged = { ...found };
    for (const { field, column, key } of tags) {
      const value = memberOf(values[column], key);
      if (value !== undefined)
        tagged[field] = readCoordinates((name) => (name === field ? value : undefined))[field];
    }
    return tagged;
  };
}

/**
 * Charges of clouds, in days. A tax, a fee or a credit of a longer period is of its first day where other charges of its provider and account
 * have days: two statements that share a day would not both count.
 */
function onDays(rows: readonly BilledRow[]): BilledRow[] {
  const accountOf = ({ provider, account }: BilledRow) => JSON.stringify([provider, account]);
  const isDay = ({ from, until }: BilledRow) => addDays(from, 1) === until;
  const daily = new Set(rows.filter(isDay).map(accountOf));
  return rows.map((row) => (daily.has(accountOf(row)) ? { ...row, until: addDays(row.from, 1) } : row));
}

/** @throws ServiceError validation_failed */
async function openTable(request: Given): Promise<BillTable> {
  try {
    return await readTable(request, mapsOf(chosenTags(request)));
  } catch (error) {
    throw refuse(`cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Reads rows of a file that is not FOCUS by its columns. */
function rowReader(
  columns: Partial<Record<BillField, string>>,
  rows: readonly Values[],
  { constants = {}, amounts_in: unit }: Given,
) {
  const textOf = (values: Values, field: BillField) => values[columns[field] ?? ""]?.trim() ?? "";
  const numbers = (["amount", "list_amount", "quantity"] as const).flatMap((field) =>
    rows.map((values) => textOf(values, field)),
  );
  const mark = chooseMark(numbers);
  return (values: Values) =>
    readBilledRow((field) => textOf(values, field) || constants[field]?.trim() || undefined, { unit, mark });
}

const plainName = (column: string) => column.toLowerCase().replace(/[^a-z0-9]/g, "");

/** Which column has which field: as given, otherwise by its name. @throws ServiceError validation_failed */
function findColumns(
  header: readonly string[],
  { columns: given = {}, constants = {} }: Given,
): Partial<Record<BillField, string>> {
  const there = `there are: ${header.join(", ")}`;
  const columns: Partial<Record<BillField, string>> = {};
  for (const [field, column] of Object.entries(given) as [BillField, string | undefined][]) {
    if (column === undefined) continue;
    if (!header.includes(column))
      throw refuse(`There is no column "${column}"; ${there}`, `columns.${field}`);
    columns[field] = column;
  }
  const taken = new Set(Object.values(columns));
  const offer = (field: BillField, names: readonly string[]) => {
    if (columns[field] !== undefined || constants[field] !== undefined) return;
    const column = header.find((name) => !taken.has(name) && names.includes(plainName(name)));
    if (column === undefined) return;
    columns[field] = column;
    taken.add(column);
  };
  const fields = Object.keys(billFields) as BillField[];
  for (const field of fields) offer(field, [plainName(field)]);
  for (const field of fields) offer(field, billFields[field]);
  for (const field of ["day", "amount", "provider"] as const) {
    if (columns[field] !== undefined || constants[field] !== undefined) continue;
    const message = `No column has the ${field}. Name its column, or give one value for all rows; ${there}`;
    throw refuse(message, `columns.${field}`);
  }
  return columns;
}
