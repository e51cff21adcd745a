import { Download, Search } from "lucide-react";
import { formatCount, formatNumber } from "@/components/figures/format-count";
import { Button } from "@/components/ui/button";
import { Input } from "@/components/ui/input";
import type { TableColumn } from "./column";
import { focusRow } from "./move-rows";
import type { TableView } from "./view-cookie";
import { ViewMenu } from "./view-menu";

/** The controls above a table: the search with the number of found rows, the view menu, and the CSV. */
export function TableToolbar<Row>({
  noun,
  saveLabel,
  search,
  onSearch,
  foundCount,
  count,
  columns,
  view,
  onView,
  onSave,
}: {
  /** The name of a row, in the singular. */
  noun: string;
  saveLabel: string;
  /** The typed text; undefined for a list that is too short for a search. */
  search: string | undefined;
  onSearch: (typed: string) => void;
  foundCount: number;
  count: number;
  /** The columns that can be hidden. */
  columns: TableColumn<Row>[];
  view: TableView;
  onView: (view: TableView) => void;
  onSave: () => void;
}) {
  const plural = formatCount(count, noun).replace(/^\S+ /, "");
  return (
    <div data-toolbar className="flex flex-wrap items-center gap-2">
      {search === undefined ? null : (
        <search className="relative min-w-40 flex-1 sm:max-w-64">
          <Search
            aria-hidden="true"
            className="pointer-events-none absolute top-1/2 left-2.5 size-4 -translate-y-1/2 text-muted-foreground"
          />
          <Input
            type="search"
            aria-label={`Search ${plural}`}
            placeholder={`Search ${plural}`}
            value={search}
            onChange={({ currentTarget }) => onSearch(currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key !== "ArrowDown") return;
              const table = event.currentTarget
                .closest("[data-toolbar]")
                ?.parentElement?.querySelector("table");
              if (!table) return;
              event.preventDefault();
              focusRow(table, 0);
            }}
            className="h-8 pl-8 sm:h-8"
          />
        </search>
      )}
      <p role="status" className="text-[13px] text-muted-foreground tabular-nums">
        {search ? `${formatNumber(foundCount)} of ${formatCount(count, noun)}` : null}
      </p>
      <div className="ml-auto flex gap-2">
        <ViewMenu columns={columns} view={view} onChange={onView} />
        <Button variant="outline" size="sm" onClick={onSave} disabled={foundCount === 0}>
          <Download aria-hidden="true" />
          <span className="max-sm:sr-only">{saveLabel}</span>
        </Button>
      </div>
    </div>
  );
}
