"use client";

import { ChevronRight } from "lucide-react";
import { useEffect, useState } from "react";
import { cn } from "@/components/cn";
import { Method } from "./method";

/** A part of the page, with the sections to jump to. */
export type NavGroup = { name: string; links: { id: string; label: string; method?: string }[] };

/** The contents of the page: a quiet list at the side, on a phone folded under the header. */
export function DocsNav({ groups }: { groups: NavGroup[] }) {
  const active = useActiveSection(groups);
  return (
    <>
      <details
        className="group sticky top-14 z-20 border-b bg-background lg:hidden"
        // A link that was followed leaves nothing to choose; the list would hide what it led to.
        onClick={(event) => {
          if (event.target instanceof Element && event.target.closest("a")) event.currentTarget.open = false;
        }}
        onKeyDown={(event) => {
          if (event.key === "Escape") event.currentTarget.open = false;
        }}
      >
        <summary className="flex h-11 list-none items-center gap-2 px-4 text-sm sm:px-6 [&::-webkit-details-marker]:hidden">
          <ChevronRight
            aria-hidden="true"
            className="size-4 text-muted-foreground transition-transform duration-100 group-open:rotate-90"
          />
          Contents
          <span className="truncate text-muted-foreground">{labelOf(groups, active)}</span>
        </summary>
        <div className="max-h-[70dvh] overflow-y-auto border-t px-4 py-4 sm:px-6">
          <NavList groups={groups} active={active} />
        </div>
      </details>
      <aside className="sticky top-14 hidden h-[calc(100dvh-3.5rem)] w-60 shrink-0 overflow-y-auto border-r py-6 pr-4 lg:block">
        <NavList groups={groups} active={active} />
      </aside>
    </>
  );
}

function NavList({ groups, active }: { groups: NavGroup[]; active: string | undefined }) {
  return (
    <nav aria-label="Contents" className="space-y-5">
      {groups.map(({ name, links }) => (
        <div key={name}>
          <p className="mb-1 px-2 font-medium text-muted-foreground text-xs">{name}</p>
          <ul>
            {links.map(({ id, label, method }) => (
              <li key={id}>
                <a
                  href={`#${id}`}
                  aria-current={id === active ? "location" : undefined}
                  className={cn(
                    "flex items-baseline gap-2 rounded-md px-2 py-1.5 text-[13px] leading-snug lg:py-1",
                    id === active
                      ? "bg-accent font-medium text-foreground"
                      : "text-muted-foreground hover:bg-accent hover:text-foreground",
                  )}
                >
                  <span className="min-w-0 flex-1">{label}</span>
                  {method ? <Method method={method} className="text-[10px]" /> : null}
                </a>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </nav>
  );
}

function labelOf(groups: NavGroup[], active: string | undefined): string | undefined {
  return groups.flatMap(({ links }) => links).find(({ id }) => id === active)?.label;
}

/** The last section whose beginning has been scrolled past the header. */
function useActiveSection(groups: NavGroup[]): string | undefined {
  const [active, setActive] = useState<string>();
  useEffect(() => {
    const ids = groups.flatMap(({ links }) => links.map(({ id }) => id));
    let frame = 0;
    const measure = () => {
      frame = 0;
      const atEnd = window.innerHeight + window.scrollY >= document.documentElement.scrollHeight - 2;
      const passed = ids.filter(
        (id) => (document.getElementById(id)?.getBoundingClientRect().top ?? 1) < 140,
      );
      setActive(atEnd ? ids.at(-1) : (passed.at(-1) ?? ids[0]));
    };
    const schedule = () => {
      frame ||= requestAnimationFrame(measure);
    };
    measure();
    window.addEventListener("scroll", schedule, { passive: true });
    window.addEventListener("resize", schedule);
    return () => {
      cancelAnimationFrame(frame);
      window.removeEventListener("scroll", schedule);
      window.removeEventListener("resize", schedule);
    };
  }, [groups]);
  return active;
}
