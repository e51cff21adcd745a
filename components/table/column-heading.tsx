import { ArrowDown, ArrowUp, ChevronsUpDown } from "lucide-react";
import { cn } from "@/components/ui/cn";
import { TableHead } from "@/components/ui/table";
import { isFigure, shownFrom, type TableColumn } from "./column";

const directions = { asc: "ascending", desc: "descending" } as const;
const icons = { asc: ArrowUp, desc: ArrowDown };

/** The heading of a column: a button that sorts by it, or text if the column cannot be sorted. */
export function ColumnHeading<Row>({
  column,
  sorted,
  onSort,
}: {
  column: TableColumn<Row>;
  sorted: "asc" | "desc" | false;
  /** Undefined if the table is not sorted here. */
  onSort: (() => void) | undefined;
}) {
  const { label, heading = label, part, from, className } = column;
  const classes = cn("first:pl-0 last:pr-0", from && shownFrom[from], className);
  if (!column.value || !onSort) {
    return (
      <TableHead className={cn(classes, isFigure(column) && "text-right")}>
        <span className={part === "actions" ? "sr-only" : undefined}>{heading}</span>
      </TableHead>
    );
  }
  const Icon = sorted ? icons[sorted] : ChevronsUpDown;
  return (
    <TableHead
      aria-sort={sorted ? directions[sorted] : undefined}
      className={cn(classes, isFigure(column) && "text-right")}
    >
      <button
        type="button"
        data-sort={column.id}
        onClick={onSort}
        className={cn(
          "group/sort inline-flex min-h-7 max-w-full items-center gap-1 rounded-sm hover:text-foreground",
          isFigure(column) && "flex-row-reverse",
          sorted && "text-foreground",
        )}
      >
        <span className="truncate">{heading}</span>
        <Icon
          aria-hidden="true"
          className={cn(
            "size-3 shrink-0",
            !sorted && "opacity-0 group-hover/sort:opacity-60 group-focus-visible/sort:opacity-60",
          )}
        />
      </button>
    </TableHead>
  );
}
