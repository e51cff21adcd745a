"use client";

import type { ReactNode } from "react";
import { cn } from "@/components/ui/cn";
import { Link } from "@/components/ui/link";

/** A series in a legend. `note`: its sum. `href`: the address of its rows. */
export type LegendEntry = { name: string; colour: string; note: string; href?: string | undefined };

/** The series of a chart as toggles. A click shows or hides a series; an Alt-click or a double click does so for all others. */
export function SeriesLegend({
  series,
  hidden,
  onChange,
  children,
}: {
  series: LegendEntry[];
  hidden: string[];
  onChange: (hidden: string[]) => void;
  /** Further list items. */
  children?: ReactNode;
}) {
  const toggle = (name: string) =>
    onChange(hidden.includes(name) ? hidden.filter((each) => each !== name) : [...hidden, name]);
  const isolate = (name: string) => {
    const others = series.map((each) => each.name).filter((each) => each !== name);
    onChange(others.every((each) => hidden.includes(each)) ? [] : others);
  };
  return (
    <ul aria-label="Series" className="-ml-1.5 flex min-w-0 flex-wrap gap-x-2 gap-y-0.5 text-[13px]">
      {series.map(({ name, colour, note, href }) => {
        const isShown = !hidden.includes(name);
        return (
          <li key={name} className="flex min-w-0 max-w-full items-center">
            <button
              type="button"
              aria-pressed={isShown}
              title={`${name}: ${note}. Click to ${isShown ? "hide" : "show"}, double-click for it alone.`}
              onClick={(event) => (event.altKey ? isolate(name) : toggle(name))}
              onDoubleClick={() => isolate(name)}
              className="flex min-w-0 items-center gap-2 rounded-sm px-1.5 py-1 hover:bg-accent"
            >
              <span
                aria-hidden="true"
                className={cn("size-2.5 shrink-0 rounded-[3px] border", !isShown && "bg-transparent!")}
                style={{ background: colour, borderColor: colour }}
              />
              <span className={cn("truncate", !isShown && "text-muted-foreground line-through")} dir="auto">
                {name}
              </span>
              {href ? null : <span className="text-muted-foreground tabular-nums">{note}</span>}
            </button>
            {href ? (
              <Link
                href={href}
                prefetch={false}
                aria-label={`${name} ${note}`}
                className="whitespace-nowrap rounded-sm py-1 text-muted-foreground tabular-nums hover:underline"
              >
                {note}
              </Link>
            ) : null}
          </li>
        );
      })}
      {children}
    </ul>
  );
}
