import type { KeyboardEvent } from "react";
import { indexAfterKey } from "@/components/ui/arrow-keys";

const controls = "a[href], button:not(:disabled)";

const rowAt = (table: HTMLTableElement, index: number) =>
  table.querySelector<HTMLElement>(`tr[data-index="${index}"]`);

/** The position of the row that has the focus; -1 when none has it, as in the heading. */
function focusedIndex(table: HTMLTableElement): number {
  const row = document.activeElement?.closest<HTMLElement>("[data-index]");
  return row && table.contains(row) ? Number(row.dataset.index) : -1;
}

/**
 * Moves the focus between the rows of a table with the arrow keys, Home and End. It goes to the same control of the
 * other row, else to the row's link, which Enter opens, else to the row itself. Tab goes through all controls as always.
 * @param count the number of rows, including those that are not rendered
 * @param reveal renders a row and scrolls to it, if not all rows are rendered. The browser scrolls to a row when it gets the focus,
 *   but the rows before it are measured afterwards and would move it out of the window again.
 */
export function moveBetweenRows(
  event: KeyboardEvent<HTMLTableElement>,
  count: number,
  reveal: ((index: number) => void) | undefined,
): void {
  // A menu's button opens its menu with the down arrow.
  if (event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const table = event.currentTarget;
  const from = focusedIndex(table);
  const index = indexAfterKey(event.key, from, count, { hasEnds: from >= 0 });
  if (index === undefined || (from < 0 && event.key === "ArrowUp")) return;
  event.preventDefault();
  const cell = document.activeElement?.closest("td")?.cellIndex;
  reveal?.(index);
  focusRow(table, index, cell, { preventScroll: reveal !== undefined });
}

/** Moves the focus to a row. @param cell the position of the cell whose control is preferred */
export function focusRow(
  table: HTMLTableElement,
  index: number,
  cell?: number,
  options?: FocusOptions,
): void {
  const row = rowAt(table, index);
  if (!row) return;
  const same = cell === undefined ? undefined : row.querySelectorAll("td")[cell];
  const target =
    same?.querySelector<HTMLElement>(controls) ?? row.querySelector<HTMLElement>("a[href]") ?? row;
  target.focus(options);
}
