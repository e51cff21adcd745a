"use client";

import { type KeyboardEvent, type ReactNode, useId, useState } from "react";
import { indexAfterKey } from "./arrow-keys";
import { cn } from "./cn";

/** One view: `label` is on its tab. */
export type Tab = { id: string; label: string; content: ReactNode };

/** Several views of which one is shown at a time. Arrow keys, Home and End choose; hidden views keep their state. */
export function Tabs({ tabs, label, className }: { tabs: Tab[]; label: string; className?: string }) {
  const id = useId();
  const [active, setActive] = useState(tabs[0]?.id);
  const move = (event: KeyboardEvent<HTMLElement>) => {
    const index = tabs.findIndex((tab) => tab.id === active);
    const moved = indexAfterKey(event.key, index, tabs.length, {
      axis: "horizontal",
      wraps: true,
      hasEnds: true,
    });
    const next = moved === undefined ? undefined : tabs[moved];
    if (!next) return;
    event.preventDefault();
    setActive(next.id);
    document.getElementById(`${id}-${next.id}`)?.focus();
  };
  return (
    <div className={cn("grid grid-cols-[minmax(0,1fr)] gap-3", className)}>
      <div role="tablist" aria-label={label} className="flex gap-4 overflow-x-auto border-b" onKeyDown={move}>
        {tabs.map((tab) => (
          <button
            key={tab.id}
            type="button"
            role="tab"
            id={`${id}-${tab.id}`}
            aria-selected={tab.id === active}
            aria-controls={`${id}-${tab.id}-panel`}
            tabIndex={tab.id === active ? 0 : -1}
            onClick={() => setActive(tab.id)}
            className="-mb-px whitespace-nowrap border-transparent border-b-2 py-2 text-muted-foreground text-sm outline-offset-[-2px] hover:text-foreground aria-selected:border-primary aria-selected:text-foreground"
          >
            {tab.label}
          </button>
        ))}
      </div>
      {tabs.map((tab) => (
        <div
          key={tab.id}
          role="tabpanel"
          id={`${id}-${tab.id}-panel`}
          aria-labelledby={`${id}-${tab.id}`}
          hidden={tab.id !== active}
        >
          {tab.content}
        </div>
      ))}
    </div>
  );
}
