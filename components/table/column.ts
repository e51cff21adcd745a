import type { ReactNode } from "react";
import { formatDate } from "@/components/figures/format-date";
import { formatMoney } from "@/components/figures/money";

/**
 * What the values of a column are: how they are compared and written to a CSV. `usd` and `decimal` are exact decimal
 * text, `count` a number, `time` an instant or a day as ISO 8601, `text` anything else.
 */
type ColumnKind = "text" | "usd" | "decimal" | "count" | "time";

/** What a cell is about; null where a row has none. */
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
  /** What is shown as the heading, where that is not the label alone. */
  heading?: ReactNode;
  /** Default: text. */
  kind?: ColumnKind;
  /** The name of the row or the buttons of its actions, which cannot be hidden. Screen readers alone read the latter's heading. */
  part?: "name" | "actions";
  /** What is sorted and written to a CSV; a column without it is neither. */
  value?: (row: Row) => CellValue;
  /** Compares two rows, in ascending order, where their values alone cannot be compared: amounts of several currencies. */
  compare?: (a: Row, b: Row) => number;
  /** What the cell shows besides the value, as columns of a CSV that follow this one. */
  alsoSaved?: SavedColumn<Row>[];
  /** What the cell shows, as text to search. Default: by the kind of the value. */
  text?: (row: Row) => string;
  cell: (row: Row) => ReactNode;
  /** The width of the page from which the column is shown; a narrower page has no place for it. Default: always. */
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
};

/** Classes of the second line of a cell, which a compact table leaves out where it has the width for columns. */
export const secondLine = "sm:in-data-[density=compact]:hidden";

/** Whether the values of a column are figures, which are aligned to the right and sorted with the highest first. */
export const isFigure = ({ kind = "text" }: { kind?: ColumnKind }) => kind !== "text" && kind !== "time";

/** The text of a cell that a search looks through: what is shown, and the exact figure. */
export function searchedText<Row>({ kind, value, text }: TableColumn<Row>, row: Row): string {
  if (text) return text(row);
  const given = value?.(row) ?? null;
  if (given === null) return "";
  if (kind === "usd") return `${formatMoney(given)} ${given}`;
  return kind === "time" ? `${formatDate(given)} ${given}` : String(given);
}
