"use client";

import { X } from "lucide-react";
import { type KeyboardEvent, useRef, useState } from "react";
import type { ListIds } from "./combobox-list";
import type { Option } from "./combobox-option";
import { useLoaded } from "./use-loaded";

/** The most options that are rendered. */
const maxMatches = 100;

const loadList = () => import("./combobox-list");

/** The keys that the list of options handles. */
const listKeys = ["ArrowDown", "ArrowUp", "Enter"];

/**
 * A field to choose several of many options by typing. Chosen options are shown as chips before the text. Arrow keys
 * move, Enter chooses, Backspace in an empty field removes the last chip. With `limit` 1 it chooses a single option.
 * The list is loaded with the first focus. Pass `id` and the aria attributes of a FormField. States: closed, open, open without a match.
 */
export function Combobox({
  options,
  value,
  onChange,
  placeholder,
  limit = Number.POSITIVE_INFINITY,
  allowNew = false,
  onType,
  ...control
}: {
  options: Option[];
  value: string[];
  onChange: (value: string[]) => void;
  placeholder?: string;
  limit?: number;
  /** True when text that is not an option can be chosen, with Enter or by leaving the field. */
  allowNew?: boolean;
  /** Called with the typed text, for example to search options. */
  onType?: (text: string) => void;
  id?: string;
  "aria-label"?: string;
  "aria-describedby"?: string;
  "aria-invalid"?: true;
}) {
  const input = useRef<HTMLInputElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const [text, setText] = useState("");
  const [isOpen, setOpen] = useState(false);
  const [wasFocused, setFocused] = useState(false);
  const [ids, setIds] = useState<ListIds>({});
  const { module } = useLoaded(loadList, wasFocused);
  const matches = matchingOptions(options, value, text, allowNew);
  const isShown = isOpen && module !== undefined && !(allowNew && matches.length === 0);
  const labelOf = (chosen: string) => options.find((option) => option.value === chosen)?.label ?? chosen;

  const choose = (option: Option) => {
    onChange(limit === 1 ? [option.value] : [...value, option.value].slice(0, limit));
    setText("");
    if (limit === 1) setOpen(false);
    input.current?.focus();
  };
  const remove = (removed: string) => {
    onChange(value.filter((chosen) => chosen !== removed));
    input.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const { key } = event;
    if (key === "Escape" && isOpen) {
      // Closes the list, but not the dialog around it.
      event.preventDefault();
      event.stopPropagation();
      setOpen(false);
    } else if (key === "Backspace" && text === "") {
      const last = value.at(-1);
      if (last !== undefined) remove(last);
    } else if (key === "Enter" && isOpen && !isShown && text !== "" && matches[0]) {
      // The list is still loading.
      event.preventDefault();
      choose(matches[0]);
    } else if (!isOpen && (key === "ArrowDown" || key === "ArrowUp")) {
      event.preventDefault();
      setOpen(true);
    } else if (isShown && listKeys.includes(key) && !event.nativeEvent.isComposing) {
      event.preventDefault();
      // Passes the key to the list, because the focus stays in the field.
      list.current?.dispatchEvent(
        new window.KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }),
      );
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
          role="combobox"
          aria-expanded={isShown}
          aria-controls={isShown ? ids.list : undefined}
          aria-autocomplete="list"
          aria-activedescendant={isShown ? ids.active : undefined}
          autoComplete="off"
          value={text}
          placeholder={value.length === 0 ? placeholder : undefined}
          onChange={({ currentTarget }) => {
            setText(currentTarget.value);
            onType?.(currentTarget.value);
            setOpen(true);
          }}
          onFocus={() => setFocused(true)}
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
          {...control}
          onKeyDown={onKeyDown}
        />
      </div>
      {isShown ? (
        <module.ComboboxList
          key={text}
          ref={list}
          label={control["aria-label"] ?? "Choices"}
          isMultiple={limit > 1}
          options={matches}
          onIdsChange={setIds}
          onChoose={choose}
        />
      ) : null}
    </div>
  );
}

function Chip({ label, onRemove }: { label: string; onRemove: () => void }) {
  return (
    <span className="inline-flex h-7 max-w-full items-center gap-1 rounded-sm bg-secondary pl-2 text-[13px] sm:h-6">
      <span dir="auto" className="truncate text-left">
        {label}
      </span>
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
