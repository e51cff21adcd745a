"use client";

import { useState, useSyncExternalStore } from "react";
import { cn } from "@/components/cn";
import { Code } from "@/components/ui/code-block";
import { CopyButton } from "@/components/ui/copy-button";
import type { RequestExample } from "./reference";

const storageKey = "outlay.docs.language";
const changed = "outlay:docs-language";

/** The language chosen once is the language of every example on the page, and of the next visit. */
function useLanguage(): [string | null, (label: string) => void] {
  const label = useSyncExternalStore(
    (notify) => {
      window.addEventListener(changed, notify);
      window.addEventListener("storage", notify);
      return () => {
        window.removeEventListener(changed, notify);
        window.removeEventListener("storage", notify);
      };
    },
    () => localStorage.getItem(storageKey),
    () => null,
  );
  return [
    label,
    (next) => {
      localStorage.setItem(storageKey, next);
      window.dispatchEvent(new Event(changed));
    },
  ];
}

/** Requests to copy: which one, where there are several, and in which language. */
export function ExampleTabs({ examples, title }: { examples: RequestExample[]; title: string }) {
  const [name, setName] = useState(examples[0]?.name);
  const [language, setLanguage] = useLanguage();
  const example = examples.find((one) => one.name === name) ?? examples[0];
  const snippet = example?.snippets.find(({ label }) => label === language) ?? example?.snippets[0];
  if (!example || !snippet) return null;
  return (
    <figure className="min-w-0 overflow-hidden rounded-lg border bg-muted">
      <figcaption className="flex h-9 items-center justify-between border-b pr-1 pl-1.5">
        <fieldset className="flex gap-0.5">
          <legend className="sr-only">Language of the examples</legend>
          {example.snippets.map(({ label }) => (
            <button
              key={label}
              type="button"
              aria-pressed={label === snippet.label}
              onClick={() => setLanguage(label)}
              className={cn(
                "h-7 rounded-sm px-2 text-xs focus-visible:outline-offset-[-2px]",
                label === snippet.label
                  ? "font-medium text-foreground"
                  : "text-muted-foreground hover:text-foreground",
              )}
            >
              {label}
            </button>
          ))}
        </fieldset>
        <CopyButton text={snippet.code} label={`Copy the ${snippet.label} example`} />
      </figcaption>
      {examples.length > 1 ? (
        <label className="flex items-center gap-2 border-b px-2.5 py-1.5 text-muted-foreground text-xs">
          Example
          <select
            value={example.name}
            onChange={(event) => setName(event.target.value)}
            className="h-7 min-w-0 flex-1 rounded-sm border border-input bg-background px-1.5 text-foreground text-xs"
          >
            {examples.map((one) => (
              <option key={one.name} value={one.name}>
                {one.label}
              </option>
            ))}
          </select>
        </label>
      ) : null}
      <Code
        code={snippet.code}
        language={snippet.language}
        label={`${title} in ${snippet.label}`}
        className="max-h-[32rem]"
      />
    </figure>
  );
}
