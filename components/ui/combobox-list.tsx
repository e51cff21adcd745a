"use client";

import { type RefObject, useEffect } from "react";
import type { Option } from "./combobox-option";
import { Command, CommandItem, CommandList, useActiveItemId } from "./command";

/** The ids of elements of an open list. */
export type ListIds = { list?: string | undefined; active?: string | undefined };

/**
 * The open list of a combobox, whose first option is active. The combobox's field keeps the focus and sends keys to `ref`. The
 * list gets another `key` for another text, so that typing activates the first option again.
 */
export function ComboboxList({
  ref,
  label,
  isMultiple,
  options,
  onIdsChange,
  onChoose,
}: {
  ref: RefObject<HTMLDivElement | null>;
  label: string;
  isMultiple: boolean;
  options: Option[];
  /** Called with the ids of the list's element and the active option's. */
  onIdsChange: (ids: ListIds) => void;
  onChoose: (option: Option) => void;
}) {
  return (
    <Command ref={ref} tabIndex={undefined}>
      <Ids list={ref} onChange={onIdsChange} />
      <CommandList
        label={label}
        aria-multiselectable={isMultiple}
        className="absolute inset-x-0 top-full z-20 mt-1 max-h-60 scroll-py-1 rounded-lg border bg-popover p-1 text-sm shadow-lg"
      >
        {options.map((option) => (
          <CommandItem
            key={option.value}
            value={option.value}
            onSelect={() => onChoose(option)}
            className="gap-2 px-2 py-1.5"
          >
            <span dir="auto" className="truncate text-left">
              {option.label}
            </span>
            {option.hint ? (
              <span className="ml-auto text-muted-foreground text-xs">{option.hint}</span>
            ) : null}
          </CommandItem>
        ))}
        {options.length === 0 ? (
          <CommandItem disabled value="" className="px-2 py-1.5 text-muted-foreground">
            Nothing found
          </CommandItem>
        ) : null}
      </CommandList>
    </Command>
  );
}

/** Reports the ids of the list and of the active option to the field, because cmdk chooses them. */
function Ids({
  list,
  onChange,
}: {
  list: RefObject<HTMLDivElement | null>;
  onChange: (ids: ListIds) => void;
}) {
  const active = useActiveItemId(() => list.current);
  useEffect(
    () => onChange({ list: list.current?.querySelector('[role="listbox"]')?.id, active }),
    [list, active, onChange],
  );
  return null;
}
