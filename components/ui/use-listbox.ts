"use client";

import { type KeyboardEvent, type PointerEvent, useEffect, useId, useState } from "react";
import { indexAfterKey } from "./arrow-keys";

/**
 * The behaviour of a text field with a list of options below it, as in the ARIA combobox pattern: the focus stays in the
 * field, arrow keys or the pointer make an option active, and Enter or a click chooses it. The active option is scrolled
 * into view.
 * @param count number of options
 * @param onChoose called with the index of the chosen option
 * @param isOpen false while the list is hidden: an arrow key then calls `onOpen`, and Enter is left to the form
 * @returns props for the field, the list and each option; `reset` makes the first option active again
 */
export function useListbox({
  count,
  onChoose,
  isOpen = true,
  onOpen,
}: {
  count: number;
  onChoose: (index: number) => void;
  isOpen?: boolean;
  onOpen?: () => void;
}) {
  const listId = useId();
  const [requested, setActive] = useState(0);
  const active = Math.min(requested, count - 1);
  const activeId = isOpen && active >= 0 ? `${listId}-${active}` : undefined;
  // The browser scrolls to the element that has the focus, but here the focus stays in the field.
  useEffect(() => {
    if (activeId !== undefined) document.getElementById(activeId)?.scrollIntoView({ block: "nearest" });
  }, [activeId]);

  const onKeyDown = (event: KeyboardEvent) => {
    const next = indexAfterKey(event.key, isOpen ? active : -1, count, { wraps: true });
    if (next !== undefined) {
      event.preventDefault();
      setActive(next);
    }
    if (!isOpen) {
      if (event.key === "ArrowDown" || event.key === "ArrowUp") onOpen?.();
    } else if (event.key === "Enter" && active >= 0) {
      event.preventDefault();
      onChoose(active);
    }
  };

  return {
    active,
    reset: () => setActive(0),
    inputProps: {
      role: "combobox",
      "aria-expanded": isOpen,
      "aria-controls": listId,
      "aria-autocomplete": "list",
      "aria-activedescendant": activeId,
      autoComplete: "off",
      onKeyDown,
    },
    listProps: (label: string, isMultiple = false) => ({
      id: listId,
      role: "listbox",
      "aria-label": label,
      "aria-multiselectable": isMultiple,
    }),
    optionProps: (index: number) => ({
      id: `${listId}-${index}`,
      role: "option",
      "aria-selected": index === active,
      // Keeps the focus in the field.
      onPointerDown: (event: PointerEvent) => event.preventDefault(),
      onPointerMove: () => setActive(index),
      onClick: () => onChoose(index),
    }),
  } as const;
}
