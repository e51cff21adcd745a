"use client";

import { X } from "lucide-react";
import { type KeyboardEvent, useRef, useState } from "react";
import { cn } from "@/components/cn";
import { useListbox } from "./use-listbox";

/** An option of a combobox. `hint` is shown beside the label. */
export type Option = { value: string; label: string; hint?: string };

/** Options that are rendered at most. */
const maxMatches = 100;

/**
 * A field that chooses several of many options by typing. Chosen options are shown as chips before the text. Arrow keys
 * move, Enter chooses, Backspace in an empty field removes the last chip. With `limit` 1 it chooses a single option.
 * Pass `id` and the aria attributes of a FormField. States: closed, open, open without a match.
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
  /** True when text that is not an option can be chosen, with Enter or by leaving the field. */
  allowNew?: boolean;
  id?: string;
  "aria-label"?: string;
  "aria-describedby"?: string;
  "aria-invalid"?: true;
}) {
  const input = useRef<HTMLInputElement>(null);
  const [text, setText] = useState("");
  const [isOpen, setOpen] = useState(false);
  const matches = matchingOptions(options, value, text, allowNew);
  const labelOf = (chosen: string) => options.find((option) => option.value === chosen)?.label ?? chosen;

  const choose = (option: Option) => {
    onChange(limit === 1 ? [option.value] : [...value, option.value].slice(0, limit));
    setText("");
    listbox.reset();
    if (limit === 1) setOpen(false);
    input.current?.focus();
  };
  const listbox = useListbox({
    count: matches.length,
    isOpen,
    onOpen: () => setOpen(true),
    onChoose: (index) => {
      const option = matches[index];
      if (option) choose(option);
    },
  });
  const remove = (removed: string) => {
    onChange(value.filter((chosen) => chosen !== removed));
    input.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    listbox.inputProps.onKeyDown(event);
    if (event.key === "Escape" && isOpen) {
      // Closes the list, but not the dialog around it.
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
          <Chip key={chosen} label={labelOf(chosen)} onRemove={() => remove(chosen)} />
        ))}
        <input
          ref={input}
          value={text}
          placeholder={value.length === 0 ? placeholder : undefined}
          onChange={({ currentTarget }) => {
            setText(currentTarget.value);
            setOpen(true);
            listbox.reset();
          }}
          onClick={() => setOpen(true)}
          onBlur={() => {
            setOpen(false);
            // Text that was typed but not confirmed is chosen too, so that it is not missing from the request.
            const typed = text.trim();
            if (!allowNew || typed === "" || value.includes(typed) || value.length >= limit) return;
            onChange([...value, typed]);
            setText("");
          }}
          className="h-7 min-w-20 flex-1 bg-transparent px-2 text-base outline-none placeholder:text-muted-foreground sm:h-6 sm:text-sm"
          {...listbox.inputProps}
          {...control}
          onKeyDown={onKeyDown}
        />
      </div>
      <div
        {...listbox.listProps(control["aria-label"] ?? "Choices", limit > 1)}
        hidden={!isOpen || (allowNew && matches.length === 0)}
        className="absolute inset-x-0 top-full z-20 mt-1 max-h-60 scroll-py-1 overflow-y-auto rounded-lg border bg-popover p-1 text-sm shadow-lg"
      >
        {matches.map((option, index) => (
          <div
            key={option.value}
            {...listbox.optionProps(index)}
            className={cn(
              "flex cursor-pointer items-center gap-2 rounded-md px-2 py-1.5",
              index === listbox.active && "bg-accent",
            )}
          >
            <span className="truncate">{option.label}</span>
            {option.hint ? (
              <span className="ml-auto text-muted-foreground text-xs">{option.hint}</span>
            ) : null}
          </div>
        ))}
        {matches.length === 0 ? (
          // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the field.
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

function Chip({ label, onRemove }: { label: string; onRemove: () => void }) {
  return (
    <span className="inline-flex h-7 max-w-full items-center gap-1 rounded-sm bg-secondary pl-2 text-[13px] sm:h-6">
      <span className="truncate">{label}</span>
      <button
        type="button"
        aria-label={`Remove ${label}`}
        onClick={onRemove}
        className="flex size-7 items-center justify-center rounded-sm text-muted-foreground hover:text-foreground sm:size-6"
      >
        <X aria-hidden="true" className="size-3.5" />
      </button>
    </span>
  );
}

function matchingOptions(options: Option[], value: string[], text: string, allowNew: boolean): Option[] {
  const wanted = text.trim().toLowerCase();
  const matches = options
    .filter((option) => !value.includes(option.value))
    .filter(({ label, value: own }) => `${label} ${own}`.toLowerCase().includes(wanted))
    .slice(0, maxMatches);
  const isKnown = options.some((option) => option.value.toLowerCase() === wanted);
  if (!allowNew || wanted === "" || isKnown || value.includes(text.trim())) return matches;
  return [...matches, { value: text.trim(), label: text.trim(), hint: "new" }];
}
