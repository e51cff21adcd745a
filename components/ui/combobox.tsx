"use client";

import { Check, X } from "lucide-react";
import { type KeyboardEvent, useId, useRef, useState } from "react";
import { cn } from "@/components/cn";
import { useActiveInView } from "./use-active-in-view";

/** Something to choose. */
export type Option = { value: string; label: string; hint?: string };

/**
 * Several of many, found by typing; what is chosen stands before the line as chips. Arrows move, Enter chooses,
 * Backspace on an empty line takes the last one back. With `limit` 1 it chooses one.
 * `id` and the aria attributes come from a FormField.
 */
export function Combobox({
  options,
  value,
  onChange,
  placeholder,
  limit = Number.POSITIVE_INFINITY,
  allowNew = false,
  ...control
}: {
  options: Option[];
  value: string[];
  onChange: (value: string[]) => void;
  placeholder?: string;
  limit?: number;
  /** Whether what is typed may be chosen although it is no option: by Enter, and by leaving the line. */
  allowNew?: boolean;
  id?: string;
  "aria-label"?: string;
  "aria-describedby"?: string;
  "aria-invalid"?: true;
}) {
  const listId = useId();
  const input = useRef<HTMLInputElement>(null);
  const [text, setText] = useState("");
  const [isOpen, setOpen] = useState(false);
  const [at, setAt] = useState(0);
  const matches = matchingOptions(options, value, text, allowNew);
  const labelOf = (chosen: string) => options.find((option) => option.value === chosen)?.label ?? chosen;
  const activeIndex = Math.min(at, matches.length - 1);
  const active = matches[activeIndex];
  const activeId = isOpen && active ? `${listId}-${activeIndex}` : undefined;
  useActiveInView(activeId);

  const choose = (option: Option) => {
    onChange(limit === 1 ? [option.value] : [...value, option.value].slice(0, limit));
    setText("");
    setAt(0);
    if (limit === 1) setOpen(false);
    input.current?.focus();
  };
  const remove = (removed: string) => {
    onChange(value.filter((chosen) => chosen !== removed));
    input.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      setOpen(true);
      if (matches.length > 0) setAt((isOpen ? at + step + matches.length : 0) % matches.length);
    } else if (event.key === "Enter" && isOpen && active) {
      event.preventDefault();
      choose(active);
    } else if (event.key === "Escape" && isOpen) {
      // Closes the list alone, not the dialog around it.
      event.preventDefault();
      event.stopPropagation();
      setOpen(false);
    } else if (event.key === "Backspace" && text === "") {
      const last = value.at(-1);
      if (last !== undefined) remove(last);
    }
  };

  return (
    <div className="relative">
      <div className="flex min-h-10 flex-wrap items-center gap-1 rounded-md border border-input bg-background p-1 has-[input:focus-visible]:outline-2 has-[input:focus-visible]:outline-ring has-aria-invalid:border-destructive sm:min-h-9">
        {value.map((chosen) => (
          <span
            key={chosen}
            className="inline-flex h-7 max-w-full items-center gap-1 rounded-sm bg-secondary pl-2 text-[13px] sm:h-6"
          >
            <span className="truncate">{labelOf(chosen)}</span>
            <button
              type="button"
              aria-label={`Remove ${labelOf(chosen)}`}
              onClick={() => remove(chosen)}
              className="flex size-7 items-center justify-center rounded-sm text-muted-foreground hover:text-foreground sm:size-6"
            >
              <X aria-hidden="true" className="size-3.5" />
            </button>
          </span>
        ))}
        <input
          ref={input}
          role="combobox"
          aria-expanded={isOpen}
          aria-controls={listId}
          aria-autocomplete="list"
          aria-activedescendant={activeId}
          autoComplete="off"
          value={text}
          placeholder={value.length === 0 ? placeholder : undefined}
          onChange={({ currentTarget }) => {
            setText(currentTarget.value);
            setOpen(true);
            setAt(0);
          }}
          onClick={() => setOpen(true)}
          onBlur={() => {
            setOpen(false);
            // A condition somebody typed and did not confirm must not be missing from what they send.
            const typed = text.trim();
            if (!allowNew || typed === "" || value.includes(typed) || value.length >= limit) return;
            onChange([...value, typed]);
            setText("");
          }}
          onKeyDown={onKeyDown}
          className="h-7 min-w-20 flex-1 bg-transparent px-2 text-base outline-none placeholder:text-muted-foreground sm:h-6 sm:text-sm"
          {...control}
        />
      </div>
      <div
        id={listId}
        role="listbox"
        aria-label={control["aria-label"] ?? "Choices"}
        aria-multiselectable={limit > 1}
        hidden={!isOpen || (allowNew && matches.length === 0)}
        className="absolute inset-x-0 top-full z-20 mt-1 max-h-60 scroll-py-1 overflow-y-auto rounded-lg border bg-popover p-1 text-sm shadow-lg"
      >
        {matches.map((option, index) => (
          // biome-ignore lint/a11y/useFocusableInteractive: see above.
          // biome-ignore lint/a11y/useKeyWithClickEvents: the line has the keys.
          <div
            key={option.value}
            id={`${listId}-${index}`}
            role="option"
            aria-selected={option === active}
            onPointerDown={(event) => event.preventDefault()}
            onClick={() => choose(option)}
            className={cn(
              "flex cursor-pointer items-center gap-2 rounded-md px-2 py-1.5",
              option === active && "bg-accent",
            )}
          >
            <span className="truncate">{option.label}</span>
            {option.hint ? (
              <span className="ml-auto text-muted-foreground text-xs">{option.hint}</span>
            ) : null}
            {value.includes(option.value) ? <Check aria-hidden="true" className="ml-auto size-4" /> : null}
          </div>
        ))}
        {matches.length === 0 ? (
          // biome-ignore lint/a11y/useFocusableInteractive: see above.
          <div
            role="option"
            aria-selected="false"
            aria-disabled="true"
            className="px-2 py-1.5 text-muted-foreground"
          >
            Nothing found
          </div>
        ) : null}
      </div>
    </div>
  );
}

function matchingOptions(options: Option[], value: string[], text: string, allowNew: boolean): Option[] {
  const wanted = text.trim().toLowerCase();
  const matches = options
    .filter((option) => !value.includes(option.value))
    .filter(({ label, value: own }) => `${label} ${own}`.toLowerCase().includes(wanted))
    .slice(0, 100);
  const isKnown = options.some((option) => option.value.toLowerCase() === wanted);
  if (!allowNew || wanted === "" || isKnown || value.includes(text.trim())) return matches;
  return [...matches, { value: text.trim(), label: text.trim(), hint: "new" }];
}
