"use client";

import { cn } from "@/components/cn";
import type { Series } from "./series";

/** The series of a plot as toggles: each shows or hides its own; with Alt, or twice, all others. */
export function SeriesLegend({
  series,
  hidden,
  onChange,
}: {
  series: (Pick<Series, "name" | "colour"> & { note: string })[];
  hidden: string[];
  onChange: (hidden: string[]) => void;
}) {
  const toggle = (name: string) =>
    onChange(hidden.includes(name) ? hidden.filter((each) => each !== name) : [...hidden, name]);
  const isolate = (name: string) => {
    const others = series.map((each) => each.name).filter((each) => each !== name);
    onChange(others.every((each) => hidden.includes(each)) ? [] : others);
  };
  return (
    <ul aria-label="Series" className="flex flex-wrap gap-x-1 gap-y-0.5 text-[13px]">
      {series.map(({ name, colour, note }) => {
        const isShown = !hidden.includes(name);
        return (
          <li key={name} className="min-w-0 max-w-full">
            <button
              type="button"
              aria-pressed={isShown}
              title={`${name}: ${note}. Click to ${isShown ? "hide" : "show"}, double-click for it alone.`}
              onClick={(event) => (event.altKey ? isolate(name) : toggle(name))}
              onDoubleClick={() => isolate(name)}
              className="flex max-w-full items-center gap-2 rounded-sm px-1.5 py-0.5 hover:bg-accent"
            >
              <span
                aria-hidden="true"
                className={cn("size-2.5 shrink-0 rounded-[3px] border", !isShown && "bg-transparent!")}
                style={{ background: colour, borderColor: colour }}
              />
              <span className={cn("truncate", !isShown && "text-muted-foreground line-through")}>{name}</span>
              <span className="text-muted-foreground tabular-nums">{note}</span>
            </button>
          </li>
        );
      })}
    </ul>
  );
}
