"use client";

import type { RowData } from "@tanstack/react-table";
import { type ReactNode, type Ref, useDeferredValue, useEffect, useMemo, useRef, useState } from "react";
import { onDemand } from "@/components/connection/on-demand";
import { Button } from "@/components/ui/button";
import { cn } from "@/components/ui/cn";
import { Table, TableHeader, TableRow } from "@/components/ui/table";
import type { TableColumn } from "./column";
import { ColumnHeading } from "./column-heading";
import { moveBetweenRows } from "./move-rows";
import { searchRows } from "./search";
import { DataRow, type RowContext } from "./table-row";
import { TableToolbar } from "./table-toolbar";
import { type InitialSort, useDataTable } from "./use-data-table";
import { useTableView } from "./use-table-view";
import type { RememberedViews } from "./view-cookie";
import type { RowKeeper, VirtualRows } from "./virtual-rows";

const loadCsv = onDemand(() => import("./save-csv"));

/** Lists with more rows than this can be searched. Shorter ones are visible at a glance. */
const maxRowsSeenAtOnce = 8;

/** Of a list with more rows than this, only those in and near the window are rendered. */
const maxRenderedRows = 200;

/** The rows of a long list that are rendered before the script for the rest is loaded. */
const firstRows = 60;

/** Props of a DataTable. */
type DataTableProps<Row> = {
  /** The name of the table in remembered views and in file names: "keys". */
  id: string;
  workspace: string;
  /** The reader's remembered views of tables, from the request. */
  views: RememberedViews;
  /** The accessible name. */
  label: string;
  /** The name of a row, in the singular: "key". */
  noun: string;
  /** The rows in the order shown while the table is not sorted. Pass a stable array: a new one is sorted again. */
  rows: Row[];
  /** Pass a stable array, too. */
  columns: TableColumn<Row>[];
  rowId: (row: Row) => string;
  initialSort?: InitialSort;
  /** True for one page of a longer list, which the server sorts and searches. */
  isPage?: boolean;
  /** The content that a phone shows below a row, as wide as the table. */
  below?: RowContext<Row>["below"];
  /** Classes of the table. */
  className?: string;
};

/** The implementation of DataTable, in its own script. */
export function LoadedTable<Row extends RowData>(props: DataTableProps<Row>) {
  const { id, workspace, label, noun, rows, columns, rowId, initialSort, isPage, below, className } = props;
  const [view, setView] = useTableView(id, props.views);
  const [typed, setTyped] = useState("");
  const search = useDeferredValue(typed);
  const shown = useMemo(
    () => columns.filter(({ id: column }) => !view.hidden.includes(column)),
    [columns, view.hidden],
  );
  const found = useMemo(() => searchRows(rows, shown, search), [rows, shown, search]);
  const table = useDataTable({ columns, rows: found, rowId, initialSort, hidden: view.hidden });
  const sorted = table.getRowModel().rows;
  const isLong = sorted.length > maxRenderedRows;
  const VirtualRows = useVirtualRows(isLong);
  const frame = useRef<HTMLDivElement>(null);
  const keeper = useRef<RowKeeper>(null);
  const context: RowContext<Row> = { columns: shown, below };
  const render = (index: number, ref?: Ref<HTMLElement>) => {
    const row = sorted[index];
    return row ? (
      <DataRow key={row.id} ref={ref} row={row.original} index={index} isOneOfMany={isLong} {...context} />
    ) : null;
  };
  const isSearched = !isPage && (rows.length > maxRowsSeenAtOnce || typed !== "");
  const clear = () => {
    setTyped("");
    frame.current?.querySelector<HTMLElement>("input")?.focus();
  };
  return (
    <div ref={frame} className={cn("grid grid-cols-[minmax(0,1fr)]", rows.length > 1 && "gap-3")}>
      {rows.length > 1 ? (
        <TableToolbar
          noun={noun}
          saveLabel={isPage ? "CSV of this page" : "CSV"}
          search={isSearched ? typed : undefined}
          onSearch={setTyped}
          foundCount={found.length}
          count={rows.length}
          columns={columns.filter(({ part }) => part === undefined)}
          view={view}
          onView={setView}
          onSave={async () => {
            const { saveTableCsv } = await loadCsv();
            saveTableCsv(
              `${workspace}-${id}`,
              sorted.map(({ original }) => original),
              shown,
            );
          }}
        />
      ) : null}
      <Table
        aria-label={label}
        aria-rowcount={isLong ? sorted.length + 1 : undefined}
        data-density={view.isCompact ? "compact" : "comfortable"}
        className={cn(isLong && "table-fixed", className)}
        onKeyDown={(event) => moveBetweenRows(event, sorted.length, keeper.current?.reveal)}
        onFocus={({ target }) => {
          const index = target.closest<HTMLElement>("[data-index]")?.dataset.index;
          if (index !== undefined) keeper.current?.keep(Number(index));
        }}
      >
        <TableHeader>
          <TableRow aria-rowindex={isLong ? 1 : undefined}>
            {shown.map((column) => (
              <ColumnHeading
                key={column.id}
                column={column}
                sorted={table.getColumn(column.id)?.getIsSorted() ?? false}
                onSort={isPage ? undefined : () => table.getColumn(column.id)?.toggleSorting()}
              />
            ))}
          </TableRow>
        </TableHeader>
        {isLong && VirtualRows ? (
          <VirtualRows
            keys={sorted.map((row) => row.id)}
            isGrouped={below !== undefined}
            keeper={keeper}
            render={render}
          />
        ) : (
          <Bodies isGrouped={below !== undefined}>
            {(isLong ? sorted.slice(0, firstRows) : sorted).map((_, index) => render(index))}
          </Bodies>
        )}
      </Table>
      {sorted.length === 0 ? (
        <div className="py-8 text-center text-sm">
          <p className="pb-3 text-muted-foreground">
            No {noun} matches “<bdi className="[overflow-wrap:anywhere]">{search.trim()}</bdi>”.
          </p>
          <Button variant="outline" size="sm" onClick={clear}>
            Clear search
          </Button>
        </div>
      ) : null}
    </div>
  );
}

/** Rows with something below them are groups of their own; others share one. */
function Bodies({ isGrouped, children }: { isGrouped: boolean; children: ReactNode }) {
  return isGrouped ? children : <tbody>{children}</tbody>;
}

const loadRows = onDemand(() => import("./virtual-rows"));

type Component = typeof VirtualRows;

/** The component that renders the rows of a long list, loaded when there is one; undefined before. */
function useVirtualRows(isLong: boolean): Component | undefined {
  const [component, setComponent] = useState<Component>();
  useEffect(() => {
    if (!isLong) return;
    let isWanted = true;
    loadRows().then((module) => {
      if (isWanted) setComponent(() => module.VirtualRows);
    });
    return () => {
      isWanted = false;
    };
  }, [isLong]);
  return component;
}
