"use client";

import { useRouter } from "next/navigation";
import { type ReactNode, useRef, useState, useTransition } from "react";
import { ApiError, callApi } from "@/components/api";
import { Money } from "@/components/money";
import { Button } from "@/components/ui/button";
import { LoadMore } from "@/components/ui/load-more";
import { Switch } from "@/components/ui/switch";
import { toastProblem } from "@/components/ui/toaster";
import type { activityList } from "@/lib/contract/activity";
import { ActivityTable } from "./activity-table";
import { sumExact } from "./exact";
import { MessageSheet } from "./message-sheet";
import { type ActivityPage, appendPage, mergePages, toItem } from "./row";
import { useNewRows } from "./use-new-rows";

const rowsAPage = 50;

/**
 * The rows, the way to more of them, and the ones that come in meanwhile. The first page is the server's, read anew by
 * every refresh; what is loaded below it stays.
 * @param source the activity endpoint with its filters; tells one list from another
 */
export function ActivityList({
  workspace,
  source,
  first,
  summary,
  empty,
}: {
  workspace: string;
  source: string;
  first: ActivityPage;
  /** What all rows sum to; where nobody keeps that sum, the rows that are shown are summed. */
  summary: ReactNode | undefined;
  /** What stands there while there is no row. */
  empty: ReactNode;
}) {
  const router = useRouter();
  const [isRefreshing, startTransition] = useTransition();
  const [isLive, setLive] = useState(false);
  const list = useRef<HTMLDivElement>(null);
  const { shown, loadMore, isLoading } = usePages(source, first);
  const refresh = () => startTransition(() => router.refresh());
  const isTopInSight = () =>
    (list.current?.getBoundingClientRect().top ?? 0) >= 0 && !list.current?.contains(document.activeElement);
  const { waiting, problem, said } = useNewRows({
    source,
    shown: shown.items,
    isLive,
    isTopInSight,
    onNew: refresh,
  });
  return (
    <>
      <div className="flex flex-wrap items-end justify-between gap-x-6 gap-y-2 pb-3">
        {summary ?? <ShownSum page={shown} />}
        <Switch checked={isLive} onCheckedChange={setLive}>
          Live updates
        </Switch>
      </div>
      {problem && isLive ? <p className="pb-2 text-sm text-warning">{problem}</p> : null}
      <p aria-live="polite" className="sr-only">
        {said}
      </p>
      <div ref={list} className="relative" aria-busy={isRefreshing}>
        {waiting > 0 ? (
          <div className="pointer-events-none sticky top-16 z-20 h-0 lg:top-2">
            <div className="flex justify-center">
              <Button
                size="sm"
                className="pointer-events-auto rounded-full shadow-md"
                onClick={() => {
                  list.current?.scrollIntoView({ block: "start" });
                  refresh();
                }}
              >
                {waiting === 1 ? "Show 1 new row" : `Show ${waiting} new rows`}
              </Button>
            </div>
          </div>
        ) : null}
        {shown.items.length > 0 ? <ActivityTable items={shown.items} /> : empty}
      </div>
      {shown.nextCursor === null ? null : <LoadMore onClick={loadMore} pending={isLoading} />}
      <MessageSheet workspace={workspace} />
    </>
  );
}

function ShownSum({ page: { items, nextCursor } }: { page: ActivityPage }) {
  const count = `${items.length} ${items.length === 1 ? "row" : "rows"}`;
  return (
    <p className="text-lg">
      <Money usd={sumExact(items.map(({ usd }) => usd))} figure="shown_usd" className="font-semibold" />{" "}
      <span className="text-muted-foreground">
        {nextCursor === null ? `in ${count}` : `in the ${count} shown so far`}
      </span>
    </p>
  );
}

/** The pages of a list, the first of which may come anew at any time. */
function usePages(source: string, first: ActivityPage) {
  const [seen, setSeen] = useState(first);
  const [shown, setShown] = useState(first);
  const [isLoading, setLoading] = useState(false);
  if (seen !== first) {
    setSeen(first);
    setShown(mergePages(shown, first));
  }
  const loadMore = async () => {
    if (shown.nextCursor === null) return;
    setLoading(true);
    try {
      const cursor = encodeURIComponent(shown.nextCursor);
      const answer = await callApi<typeof activityList>(
        "GET",
        `${source}&limit=${rowsAPage}&cursor=${cursor}`,
      );
      setShown((before) =>
        appendPage(before, { items: answer.activity.map(toItem), nextCursor: answer.next_cursor }),
      );
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      toastProblem(error.message);
    } finally {
      setLoading(false);
    }
  };
  return { shown, loadMore, isLoading };
}
