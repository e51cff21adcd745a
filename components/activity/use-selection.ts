import { useRef, useState } from "react";
import { type ActivityItem, rowKey } from "./row";

/** Which rows of the list are selected. A message with several rows is selected as a whole. */
export type Selection = {
  /** The selected messages, in no order. */
  ids: ReadonlySet<string>;
  /** Whether all rows that match the filters are selected, including those that are not shown. */
  hasAll: boolean;
  /** Selects or deselects a row. @param isRange whether to include the rows since the last selected one */
  toggle: (item: ActivityItem, isRange: boolean) => void;
  /** Selects every shown row, or deselects them if all are selected. */
  toggleShown: () => void;
  selectAll: () => void;
  clear: () => void;
};

/** Whether a row can be selected: voids and voided messages cannot be changed again. */
export const isSelectable = ({ undone }: ActivityItem): boolean => undone !== "void" && undone !== "voided";

const none: ReadonlySet<string> = new Set();

/** The selection of the shown rows. Rows that are no longer shown are no longer selected. */
export function useSelection(items: ActivityItem[]): Selection {
  const [chosen, setChosen] = useState(none);
  const [hasAll, setAll] = useState(false);
  const last = useRef<string>(undefined);
  const selectable = items.filter(isSelectable);
  const ids = new Set(selectable.map(({ id }) => id).filter((id) => chosen.has(id)));
  const change = (next: ReadonlySet<string>) => {
    setChosen(next);
    setAll(false);
  };
  return {
    ids,
    hasAll,
    toggle: (item, isRange) => {
      const place = (key: string | undefined) => selectable.findIndex((one) => rowKey(one) === key);
      const [from, to] = [isRange ? place(last.current) : -1, place(rowKey(item))];
      const meant = from < 0 ? [item] : selectable.slice(Math.min(from, to), Math.max(from, to) + 1);
      const isAdded = isRange || !ids.has(item.id);
      const next = new Set(ids);
      for (const { id } of meant) isAdded ? next.add(id) : next.delete(id);
      last.current = rowKey(item);
      change(next);
    },
    toggleShown: () => {
      const shown = selectable.map(({ id }) => id);
      change(shown.every((id) => ids.has(id)) ? none : new Set(shown));
    },
    selectAll: () => setAll(true),
    clear: () => change(none),
  };
}
