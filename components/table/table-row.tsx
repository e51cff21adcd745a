import type { ReactNode, Ref } from "react";
import { cn } from "@/components/ui/cn";
import { TableCell, TableRow } from "@/components/ui/table";
import { isFigure, shownFrom, type TableColumn } from "./column";

/** What all rows of a table share. */
export type RowContext<Row> = {
  columns: TableColumn<Row>[];
  /** The content shown below a row if the page is narrower than `until`. */
  below: { render: (row: Row) => ReactNode; until: keyof typeof hiddenFrom } | undefined;
};

const hiddenFrom = { sm: "sm:hidden", md: "md:hidden", lg: "lg:hidden" };

/**
 * A row of a DataTable. Without a control, it gets the focus by arrow keys itself. The Tab key skips it.
 * @param props.index its position among the shown rows
 * @param props.isOneOfMany whether to announce its position, because not all rows are rendered
 */
export function DataRow<Row>({
  row,
  index,
  isOneOfMany,
  columns,
  below,
  ref,
}: RowContext<Row> & { row: Row; index: number; isOneOfMany: boolean; ref?: Ref<HTMLElement> | undefined }) {
  // The heading is the first row.
  const position = isOneOfMany ? index + 2 : undefined;
  const cells = (
    <TableRow
      ref={below ? undefined : (ref as Ref<HTMLTableRowElement>)}
      data-index={index}
      aria-rowindex={position}
      tabIndex={-1}
      className={cn(
        "[&>td]:align-middle has-[a:focus-visible]:bg-muted/60 focus-visible:-outline-offset-2",
        below && "border-0",
      )}
    >
      {columns.map((column) => (
        <TableCell
          key={column.id}
          {...column.cellProps?.(row)}
          className={cn(
            "py-2.5 first:pl-0 last:pr-0 in-data-[density=compact]:py-1",
            isFigure(column) && "text-right tabular-nums",
            column.from && shownFrom[column.from],
            column.className,
            column.cellClassName,
          )}
        >
          {column.cell(row)}
        </TableCell>
      ))}
    </TableRow>
  );
  if (!below) return cells;
  return (
    <tbody ref={ref as Ref<HTMLTableSectionElement>} data-index={index} className="border-b last:border-0">
      {cells}
      <tr data-index={index} aria-rowindex={position} className={hiddenFrom[below.until]}>
        <TableCell
          colSpan={columns.length}
          className="pt-0 pr-0 pb-3 pl-0 text-muted-foreground [overflow-wrap:anywhere]"
        >
          {below.render(row)}
        </TableCell>
      </tr>
    </tbody>
  );
}
