"use client";

import { Bell } from "lucide-react";
import { type ComponentProps, useState, useSyncExternalStore } from "react";
import { AlertMark } from "@/components/alerts/alert-mark";
import { Time } from "@/components/figures/time";
import { Problem } from "@/components/requests/api";
import { cn } from "@/components/ui/cn";
import { Link } from "@/components/ui/link";
import { Popover, PopoverContent, PopoverTrigger } from "@/components/ui/popover";
import { Skeleton } from "@/components/ui/skeleton";
import type { AlertNews, AlertNewsItem } from "@/lib/contract/alerts/alert-news";
import { newsOf } from "./alert-news";

/** The most that the badge shows. */
const maxShown = 9;

/** The bell: how many alerts are new to this member. It opens a list of the newest, which marks them as seen. */
export function AlertBell({
  workspace,
  place,
  className,
}: {
  workspace: string;
  place: NonNullable<ComponentProps<typeof PopoverContent>["place"]>;
  className?: string;
}) {
  const store = newsOf(workspace);
  const news = useSyncExternalStore(store.subscribe, store.current, store.onServer);
  // The list at the time it was opened, so that new alerts stay marked while they are read.
  const [opened, setOpened] = useState<AlertNews>();
  const [problem, setProblem] = useState<string>();
  const unread = news?.unread ?? 0;
  const open = async () => {
    setProblem(undefined);
    try {
      const read = await store.read();
      setOpened(read);
      const [newest] = read.newest;
      if (newest && read.unread > 0) await store.markSeen(newest.id);
    } catch (error) {
      setProblem(error instanceof Problem ? error.message : "The alerts could not be loaded.");
    }
  };
  const shown = opened ?? news;
  return (
    <Popover>
      <PopoverTrigger
        variant="ghost"
        size="icon"
        aria-haspopup="dialog"
        aria-label={unread === 0 ? "Alerts" : `Alerts, ${unread} new`}
        className={cn("relative", className)}
      >
        <Bell aria-hidden="true" />
        {unread > 0 ? (
          <span
            aria-hidden="true"
            className="absolute top-0.5 right-0.5 min-w-4 rounded-full bg-destructive px-1 text-center font-medium text-[10px] text-destructive-foreground leading-4 tabular-nums"
          >
            {unread > maxShown ? `${maxShown}+` : unread}
          </span>
        ) : null}
      </PopoverTrigger>
      <PopoverContent
        role="dialog"
        aria-label="Newest alerts"
        tabIndex={-1}
        place={place}
        className="w-88 p-0 outline-none max-sm:inset-x-2 max-sm:top-14 max-sm:w-auto max-sm:max-w-none max-sm:[position-area:none]"
        onToggle={({ currentTarget, newState }) => {
          if (newState === "open") {
            // The browser sends this event late: the focus may be in the list already.
            if (!currentTarget.contains(document.activeElement)) currentTarget.focus();
            void open();
            return;
          }
          setOpened(undefined);
          returnFocus(currentTarget);
        }}
      >
        <p className="flex items-center justify-between gap-3 border-b px-3.5 py-2.5">
          <span className="font-medium">Alerts</span>
          <Link
            href={`/${workspace}/alerts`}
            onClick={closeList}
            className="rounded-sm text-[13px] text-muted-foreground underline-offset-4 hover:text-foreground hover:underline"
          >
            Show all
          </Link>
        </p>
        {problem && !shown ? (
          <p role="alert" className="px-3.5 py-6 text-muted-foreground">
            {problem}
          </p>
        ) : shown ? (
          <NewsList items={shown.newest} />
        ) : (
          <div aria-busy="true" className="grid gap-2 p-3.5">
            <Skeleton className="h-4 w-3/4" />
            <Skeleton className="h-4 w-1/2" />
          </div>
        )}
      </PopoverContent>
    </Popover>
  );
}

/** Returns the focus to the button. The browser does not do so for a popover inside another one, such as the sidebar. */
function returnFocus(list: HTMLElement): void {
  const active = document.activeElement;
  if (active !== document.body && !list.contains(active)) return;
  document.querySelector<HTMLElement>(`[popovertarget="${list.id}"]`)?.focus();
}

function closeList({ currentTarget }: { currentTarget: Element }): void {
  currentTarget.closest<HTMLElement>("[popover]")?.hidePopover();
}

function NewsList({ items }: { items: AlertNewsItem[] }) {
  if (items.length === 0) {
    return <p className="px-3.5 py-6 text-muted-foreground">Nothing has fired yet.</p>;
  }
  return (
    <ul aria-label="Newest alerts" className="grid">
      {items.map(({ id, title, text, state, severity, fired_at: at, is_unread: isUnread, path }) => (
        <li key={id} className="border-t first:border-t-0">
          <Link
            href={path}
            prefetch={false}
            onClick={closeList}
            className="grid grid-cols-[auto_minmax(0,1fr)_auto] gap-x-2.5 gap-y-0.5 px-3.5 py-2.5 -outline-offset-2 hover:bg-accent"
          >
            <AlertMark state={state} severity={severity} />
            <span className={cn("[overflow-wrap:anywhere]", isUnread && "font-medium")}>
              {title}
              {isUnread ? <span className="sr-only"> (new)</span> : null}
            </span>
            <span
              aria-hidden="true"
              className={cn("mt-1.5 size-2 rounded-full", isUnread ? "bg-primary" : "invisible")}
            />
            <span className="col-start-2 text-[13px] text-muted-foreground">{text}</span>
            <Time at={at} className="col-start-2 text-muted-foreground text-xs" />
          </Link>
        </li>
      ))}
    </ul>
  );
}
