import {
  type ColumnDef,
  columnVisibilityFeature,
  createSortedRowModel,
  type RowData,
  rowSortingFeature,
  tableFeatures,
  useTable,
} from "@tanstack/react-table";
import { useMemo } from "react";
import { type CellValue, isFigure, type TableColumn } from "./column";
import { compareValues } from "./compare";

/** The features of TanStack Table that are used; the others are left out of the page's script. */
const features = tableFeatures({
  rowSortingFeature,
  columnVisibilityFeature,
  sortedRowModel: createSortedRowModel(),
});

/** The column that a table is initially sorted by. */
export type InitialSort = { id: string; descending: boolean };

/**
 * Sorts rows and chooses columns with TanStack Table. Clicks on a heading sort by its column in one direction, then in the other, and
 * then restore the original order. Rows without a value are last in both directions.
 */
export function useDataTable<Row extends RowData>({
  columns,
  rows,
  rowId,
  initialSort,
  hidden,
}: {
  columns: TableColumn<Row>[];
  rows: Row[];
  rowId: (row: Row) => string;
  initialSort: InitialSort | undefined;
  hidden: readonly string[];
}) {
  const definitions = useMemo(() => columns.map(toDefinition), [columns]);
  const columnVisibility = useMemo(() => Object.fromEntries(hidden.map((id) => [id, false])), [hidden]);
  return useTable({
    features,
    columns: definitions,
    data: rows,
    getRowId: rowId,
    state: { columnVisibility },
    initialState: {
      sorting: initialSort ? [{ id: initialSort.id, desc: initialSort.descending }] : [],
    },
    enableMultiSort: false,
  });
}

function toDefinition<Row extends RowData>(
  column: TableColumn<Row>,
): ColumnDef<typeof features, Row, unknown> {
  const { id, kind, value, compare } = column;
  return {
    id,
    // Rows without a value have `undefined`, which is sorted apart.
    accessorFn: (row) => value?.(row) ?? undefined,
    enableSorting: value !== undefined,
    sortDescFirst: isFigure(column) || kind === "time",
    sortUndefined: "last",
    sortFn: (a, b, columnId) =>
      compare
        ? compare(a.original, b.original)
        : compareValues(
            kind,
            a.getValue<NonNullable<CellValue>>(columnId),
            b.getValue<NonNullable<CellValue>>(columnId),
          ),
    enableHiding: column.part === undefined,
  };
}
