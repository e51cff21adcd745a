"use client";

import { type KeyboardEvent, type ReactNode, useId, useState } from "react";
import { cn } from "@/components/cn";

/** One of several views. */
export type Tab = { id: string; label: string; content: ReactNode };

/** Several views of one thing, one in sight. Arrows choose; views out of sight stay as they were left. */
export function Tabs({ tabs, label, className }: { tabs: Tab[]; label: string; className?: string }) {
  const id = useId();
  const [active, setActive] = useState(tabs[0]?.id);
  const move = (event: KeyboardEvent<HTMLElement>) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const at = tabs.findIndex((tab) => tab.id === active);
    const next = tabs[(at + step + tabs.length) % tabs.length];
    if (!next) return;
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
