"use client";

import { ArrowDown, ArrowUp, ChevronRight } from "lucide-react";
import dynamic from "next/dynamic";
import { usePathname, useSearchParams } from "next/navigation";
import { Fragment, type KeyboardEvent, type MouseEvent, useState } from "react";
import { onDemand } from "@/components/connection/on-demand";
import { formatCount } from "@/components/figures/format-count";
import { Money } from "@/components/figures/money";
import { Time } from "@/components/figures/time";
import { indexAfterKey } from "@/components/ui/arrow-keys";
import { Badge } from "@/components/ui/badge";
import { Link } from "@/components/ui/link";
import { TableBody, TableCell, TableHead, TableHeader, TableRow } from "@/components/ui/table";
import { type Column, type ColumnName, columns, textOf } from "./columns";
import { type ActivityItem, rowKey } from "./row";
import { isSelectable, type Selection } from "./use-selection";

// With `ssr: false`, loading the lines does not suspend the table.
const BatchLines = dynamic(
  onDemand(() => import("./batch-lines").then((module) => module.BatchLines)),
  {
    ssr: false,
  },
);

const undoneNames = { voided: "Voided", correction: "Correction" };

const head = "sticky top-14 z-10 bg-background shadow-[inset_0_-1px_var(--border)] lg:top-0";

/**
 * The activity rows as a table. A phone shows the label, the time and the project in one column, with the amount beside
 * it. A click on a row opens its message; arrow keys move from row to row. A batch unfolds
 * into its lines. Rows are selected with their checkboxes (with Shift, including the rows in between), with X on a focused row, or
 * with Shift and an arrow key.
 */
export function ActivityTable({
  workspace,
  items,
  shown,
  selection,
}: {
  workspace: string;
  items: ActivityItem[];
  /** The columns to show. */
  shown: readonly ColumnName[];
  /** Undefined if rows cannot be selected. */
  selection?: Selection | undefined;
}) {
  const path = usePathname();
  const params = useSearchParams();
  // The part of the address that all rows share; it ends with "message=".
  const shared = new URLSearchParams(params);
  shared.delete("message");
  shared.append("message", "");
  const href = `${path}?${shared}`;
  const filter = {
    model: params.get("model"),
    feature: params.get("feature"),
    end_user: params.get("user"),
    session: params.get("session"),
    cost_status: params.get("cost_status"),
  };
  const { isOpen, toggle } = useOpenRows();
  const others = columns.filter(isOther).filter(({ name }) => shown.includes(name));
  return (
    <table
      className="w-full text-sm"
      aria-label="Activity"
      onKeyDown={(event) => onRowKey(event, items, selection)}
    >
      <TableHeader className="[&_tr]:border-b-0">
        <TableRow>
          {selection ? <SelectShown items={items} selection={selection} /> : null}
          {shown.includes("time") ? (
            <SortHead sort="time" label="Occurred" className={`${head} hidden w-28 pl-0 sm:table-cell`} />
          ) : null}
          <TableHead className={`${head} ${shown.includes("time") ? "max-sm:pl-0" : "pl-0"}`}>What</TableHead>
          {others.map(({ name, label, sort }) =>
            sort ? (
              <SortHead key={name} sort={sort} label={label} className={`${head} ${placeOf(name)}`} />
            ) : (
              <TableHead key={name} className={`${head} ${placeOf(name)}`}>
                {label}
              </TableHead>
            ),
          )}
          <SortHead sort="amount" label="Amount" className={`${head} pr-0 text-right`} />
        </TableRow>
      </TableHeader>
      <TableBody>
        {items.map((item) => (
          <Fragment key={rowKey(item)}>
            <TableRow className="relative hover:bg-muted has-[a:focus-visible]:bg-muted has-[[data-select]:checked]:bg-muted [&>td]:py-2.5">
              {selection ? <SelectRow item={item} selection={selection} /> : null}
              {shown.includes("time") ? (
                <TableCell className="hidden whitespace-nowrap pl-0 text-muted-foreground sm:table-cell">
                  {/* Wide enough for the longest text, so that the column does not move when the text changes. */}
                  <Time at={item.at} className="inline-block min-w-18" />
                </TableCell>
              ) : null}
              <TableCell
                className={`w-full min-w-36 max-w-0 ${shown.includes("time") ? "max-sm:pl-0" : "pl-0"}`}
              >
                <span className="flex items-start gap-1">
                  {item.lineCount === null ? null : (
                    <LinesToggle item={item} open={isOpen(item)} onClick={() => toggle(item)} />
                  )}
                  <a
                    href={href + item.id}
                    data-row
                    onClick={openHere}
                    className={`font-medium max-sm:line-clamp-2 max-sm:[overflow-wrap:anywhere] sm:block sm:truncate ${item.undone === "voided" ? "text-muted-foreground line-through" : ""} outline-none after:absolute after:inset-0 focus-visible:after:outline-2 focus-visible:after:outline-ring`}
                  >
                    {item.label}
                  </a>
                  {item.undone === null || item.undone === "void" ? null : (
                    <Badge variant="outline" className="shrink-0">
                      {undoneNames[item.undone]}
                    </Badge>
                  )}
                </span>
                <span className="block truncate text-muted-foreground text-xs">
                  <span className="sm:hidden">
                    <Time at={item.at} />
                    {` · ${item.project}`}
                    {item.feature === null ? "" : ` · ${item.feature}`}
                  </span>
                  <span className="max-sm:hidden">{item.about}</span>
                  <span className="max-sm:hidden md:hidden"> · {item.project}</span>
                </span>
              </TableCell>
              {others.map(({ name }) => (
                <TableCell
                  key={name}
                  dir="auto"
                  className={`max-w-44 truncate text-left lg:max-w-28 xl:max-w-44 ${name === "project" ? "" : "text-muted-foreground"} ${placeOf(name)}`}
                >
                  {textOf(item, name)}
                </TableCell>
              ))}
              <TableCell className="whitespace-nowrap pr-0 text-right">
                {item.hasNoPrice ? (
                  <Badge variant="warning">No price yet</Badge>
                ) : item.isIncluded ? (
                  <Badge>Covered</Badge>
                ) : (
                  <Money usd={item.usd} figure="activity.amount_usd" />
                )}
                {item.isPartlyPriced && item.wholeUsd === null ? (
                  <span className="block text-muted-foreground text-xs">
                    <Money usd={item.usd} /> so far
                  </span>
                ) : null}
                {item.wholeUsd === null ? null : (
                  <span className="block text-muted-foreground text-xs">
                    of <Money usd={item.wholeUsd} />
                  </span>
                )}
              </TableCell>
            </TableRow>
            {isOpen(item) ? (
              <BatchLines
                workspace={workspace}
                id={item.id}
                filter={filter}
                before={
                  <>
                    {selection ? <TableCell className={boxCell} /> : null}
                    {shown.includes("time") ? <TableCell className="hidden sm:table-cell" /> : null}
                  </>
                }
                between={others.map(({ name }) => <TableCell key={name} className={placeOf(name)} />)}
              />
            ) : null}
          </Fragment>
        ))}
      </TableBody>
    </table>
  );
}

type OtherColumn = Column & { name: Exclude<ColumnName, "time"> };
const isOther = (column: Column): column is OtherColumn => column.name !== "time";

/** The class that shows a column from a certain width. */
const placeOf = (name: ColumnName) => (name === "project" ? "hidden md:table-cell" : "hidden lg:table-cell");

/** The heading of a sortable column: a link that sorts by it, or reverses the order if it is already sorted by it. */
function SortHead({ sort, label, className }: { sort: string; label: string; className: string }) {
  const path = usePathname();
  const params = useSearchParams();
  const current = params.get("sort") ?? "-time";
  const isDescending = current === `-${sort}`;
  const next = new URLSearchParams(params);
  next.delete("message");
  next.set("sort", isDescending ? sort : `-${sort}`);
  const order = isDescending ? "descending" : current === sort ? "ascending" : undefined;
  const Icon = order === "ascending" ? ArrowUp : ArrowDown;
  return (
    <TableHead aria-sort={order ?? "none"} className={className}>
      <Link
        href={`${path}?${next}`}
        scroll={false}
        className={`inline-flex items-center gap-1 hover:text-foreground ${order ? "text-foreground" : ""}`}
      >
        {label}
        {order ? <Icon aria-hidden="true" className="size-3" /> : null}
      </Link>
    </TableHead>
  );
}

/** Shows or hides the lines of a batch. It is drawn above the link that covers the rest of the row. */
function LinesToggle({ item, open, onClick }: { item: ActivityItem; open: boolean; onClick: () => void }) {
  const lines = formatCount(item.lineCount ?? 0, "line");
  return (
    <button
      type="button"
      aria-expanded={open}
      aria-label={`${lines} of ${item.label}`}
      onClick={onClick}
      className="relative z-[1] -my-0.5 -ml-1 rounded-sm p-1 text-muted-foreground outline-none hover:text-foreground focus-visible:outline-2 focus-visible:outline-ring"
    >
      <ChevronRight
        aria-hidden="true"
        className={`size-4 transition-transform duration-100 ${open ? "rotate-90" : ""}`}
      />
    </button>
  );
}

/** Which rows show their lines. */
function useOpenRows() {
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const isOpen = (item: ActivityItem) => open.has(rowKey(item));
  const toggle = (item: ActivityItem) => {
    const next = new Set(open);
    if (!next.delete(rowKey(item))) next.add(rowKey(item));
    setOpen(next);
  };
  return { isOpen, toggle };
}

/** Opens the message beside the list without loading the list again. Clicks with a modifier key are left to the browser. */
function openHere(event: MouseEvent<HTMLAnchorElement>): void {
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  window.history.pushState({ openedFromList: true }, "", event.currentTarget.href);
}

const boxCell = "w-8 min-w-8 p-0 align-top";
const box = "relative z-[1] size-4 accent-primary";

/** Selects every shown row. */
function SelectShown({ items, selection }: { items: ActivityItem[]; selection: Selection }) {
  const count = new Set(items.filter(isSelectable).map(({ id }) => id)).size;
  const { ids } = selection;
  return (
    <TableHead className={`${head} ${boxCell} align-middle`}>
      <input
        type="checkbox"
        aria-label="Select the rows shown"
        className={`${box} align-middle`}
        disabled={count === 0}
        checked={count > 0 && ids.size === count}
        ref={(input) => {
          if (input) input.indeterminate = ids.size > 0 && ids.size < count;
        }}
        onChange={selection.toggleShown}
      />
    </TableHead>
  );
}

/** Selects a row, with Shift those since the last one, too. It is drawn above the link that covers the rest of the row. */
function SelectRow({ item, selection }: { item: ActivityItem; selection: Selection }) {
  return (
    <TableCell className={boxCell}>
      {isSelectable(item) ? (
        <label className="relative z-[1] -my-2.5 -ml-2 flex w-9 cursor-pointer select-none py-3 pl-2">
          <input
            type="checkbox"
            data-select
            aria-label={`Select ${item.label}`}
            className={box}
            checked={selection.ids.has(item.id)}
            onChange={({ nativeEvent }) => selection.toggle(item, isShiftOf(nativeEvent))}
          />
        </label>
      ) : null}
    </TableCell>
  );
}

const isShiftOf = (event: Event): boolean => "shiftKey" in event && event.shiftKey === true;

/** Moves between rows and selects them. */
function onRowKey(
  event: KeyboardEvent<HTMLTableElement>,
  items: ActivityItem[],
  selection: Selection | undefined,
): void {
  const links = [...event.currentTarget.querySelectorAll<HTMLElement>("a[data-row]")];
  const index = links.indexOf(document.activeElement as HTMLElement);
  const select = (place: number, isRange: boolean) => {
    const item = items[place];
    if (item && isSelectable(item)) selection?.toggle(item, isRange);
  };
  if (event.key === "x" && index >= 0 && !event.metaKey && !event.ctrlKey && !event.altKey) {
    event.preventDefault();
    select(index, false);
    return;
  }
  if (event.key === "Escape" && selection && selection.ids.size > 0) {
    event.preventDefault();
    selection.clear();
    return;
  }
  const next = indexAfterKey(event.key, index, links.length);
  if (next === undefined) return;
  event.preventDefault();
  links[next]?.focus();
  if (event.shiftKey && index >= 0) {
    const here = items[index];
    if (here && !selection?.ids.has(here.id)) select(index, false);
    select(next, true);
  }
}
