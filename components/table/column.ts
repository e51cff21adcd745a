import type { ReactNode } from "react";
import { formatDate } from "@/components/figures/format-date";
import { formatMoney } from "@/components/figures/money";

/**
 * The kind of a column's values, which decides how they are compared and written to a CSV. `usd` and `decimal` are exact decimal
 * text, `count` a number, `time` an instant or a day as ISO 8601, `text` anything else.
 */
type ColumnKind = "text" | "usd" | "decimal" | "count" | "time";

/** The value of a cell; null for none. */
export type CellValue = string | number | null;

/** A column of a CSV. */
type SavedColumn<Row> = {
  label: string;
  kind?: ColumnKind;
  value?: (row: Row) => CellValue;
};

/** A column of a DataTable. */
export type TableColumn<Row> = {
  id: string;
  /** Names the column in the menu of columns and in a CSV. */
  label: string;
  /** The content of the heading, if it is not just the label. */
  heading?: ReactNode;
  /** Default: text. */
  kind?: ColumnKind;
  /** `name`: the row's name; `actions`: its buttons, whose heading only screen readers read. Neither column can be hidden. */
  part?: "name" | "actions";
  /** The value to sort by and to write to a CSV. A column without it is not sorted and not in the CSV. */
  value?: (row: Row) => CellValue;
  /** Compares two rows, in ascending order, if their values cannot be compared: amounts of several currencies. */
  compare?: (a: Row, b: Row) => number;
  /** Further columns of the CSV after this one, for what the cell shows besides the value. */
  alsoSaved?: SavedColumn<Row>[];
  /** The cell's text for the search. Default: by the kind of the value. */
  text?: (row: Row) => string;
  cell: (row: Row) => ReactNode;
  /** The width of the page from which the column is shown. Default: always. */
  from?: keyof typeof shownFrom;
  /** Classes of the heading and the cells. */
  className?: string;
  /** Classes of the cells. */
  cellClassName?: string;
  /** Attributes of a cell. */
  cellProps?: (row: Row) => { title?: string; "data-figure"?: string; "data-exact"?: string };
};

/** Classes that show a cell from a width of the page on. */
export const shownFrom = {
  sm: "hidden sm:table-cell",
  md: "hidden md:table-cell",
  lg: "hidden lg:table-cell",
  xl: "hidden xl:table-cell",
};

/** Classes of the second line of a cell, which a compact table hides if it is wide enough for columns. */
export const secondLine = "sm:in-data-[density=compact]:hidden";

/** Whether the values of a column are figures, which are aligned to the right and sorted in descending order first. */
export const isFigure = ({ kind = "text" }: { kind?: ColumnKind }) => kind !== "text" && kind !== "time";

/** The text of a cell that a search looks through: what is shown, and the exact figure. */
export function searchedText<Row>({ kind, value, text }: TableColumn<Row>, row: Row): string {
  if (text) return text(row);
  const given = value?.(row) ?? null;
  if (given === null) return "";
  if (kind === "usd") return `${formatMoney(given)} ${given}`;
  return kind === "time" ? `${formatDate(given)} ${given}` : String(given);
}
