"use client";

import { useRouter } from "next/navigation";
import { type ReactNode, useRef, useState, useTransition } from "react";
import { formatCount } from "@/components/figures/format-count";
import { formatDate } from "@/components/figures/format-date";
import { Money } from "@/components/figures/money";
import { callApi, Problem } from "@/components/requests/api";
import { Button } from "@/components/ui/button";
import { LoadMore } from "@/components/ui/load-more";
import { Switch } from "@/components/ui/switch";
import { toastProblem } from "@/components/ui/toaster";
import type { activityList } from "@/lib/contract/spend/activity";
import { ActivityTable } from "./activity-table";
import type { ColumnName } from "./columns";
import { MessageSheet } from "./message-sheet";
import { type ActivityPage, appendPage, mergePages, sumOfItems, toPage } from "./row";
import { SelectionBar } from "./selection-bar";
import { useNewRows } from "./use-new-rows";
import { useSelection } from "./use-selection";
import { ViewMenu } from "./view-menu";

const rowsPerPage = 50;

/**
 * The activity rows, with a button for more rows and a notice of new ones. The server renders the first page, and again at every
 * refresh; pages that were loaded below it are kept. States: rows, `empty`, loading more, and live updates with or without a
 * problem.
 * @param props.source path of the activity endpoint with its filters
 */
export function ActivityList({
  workspace,
  source,
  first,
  isLatestFirst,
  mayChange,
  remembered,
  summary,
  empty,
}: {
  workspace: string;
  source: string;
  first: ActivityPage;
  /** Whether new rows appear at the top. */
  isLatestFirst: boolean;
  /** Whether rows can be selected, to change many at once. */
  mayChange: boolean;
  /** The columns chosen in this browser. */
  remembered: ColumnName[];
  /** The sum of all rows; undefined when it is not known. The shown rows are summed then. */
  summary: ReactNode | undefined;
  /** Shown when there are no rows. */
  empty: ReactNode;
}) {
  const router = useRouter();
  const [isRefreshing, startTransition] = useTransition();
  const [isLive, setLive] = useState(false);
  const list = useRef<HTMLDivElement>(null);
  const { shown, loadMore, isLoading, forgetOlder } = usePages(source, first);
  const selection = useSelection(shown.items);
  const [columns, setColumns] = useState(remembered);
  const refresh = () => startTransition(() => router.refresh());
  const isTopVisible = () =>
    (list.current?.getBoundingClientRect().top ?? 0) >= 0 && !list.current?.contains(document.activeElement);
  const { waiting, problem, announcement } = useNewRows({
    source,
    shown: shown.items,
    isLive,
    isWatched: isLatestFirst,
    isTopVisible,
    onNew: refresh,
  });
  return (
    <>
      <div className="flex flex-wrap items-end justify-between gap-x-6 gap-y-2 pb-3">
        {summary ?? <ShownSum page={shown} />}
        <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
          {isLatestFirst ? (
            <Switch checked={isLive} onCheckedChange={setLive}>
              Show new rows at once
            </Switch>
          ) : null}
          <ViewMenu shown={columns} onChange={setColumns} />
        </div>
      </div>
      {problem && isLive ? <p className="pb-2 text-sm text-warning">{problem}</p> : null}
      <p aria-live="polite" className="sr-only">
        {announcement}
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
        {shown.items.length > 0 ? (
          <ActivityTable
            workspace={workspace}
            items={shown.items}
            shown={columns}
            selection={mayChange ? selection : undefined}
          />
        ) : (
          empty
        )}
      </div>
      {mayChange ? (
        <SelectionBar
          workspace={workspace}
          source={source}
          items={shown.items}
          hasMore={shown.nextCursor !== null}
          selection={selection}
          onDone={forgetOlder}
        />
      ) : null}
      {shown.nextCursor === null ? null : <LoadMore onClick={loadMore} pending={isLoading} />}
      {shown.removedBefore === null ? null : (
        <p className="pt-4 text-center text-sm text-muted-foreground">
          Messages before {formatDate(shown.removedBefore)} were removed. Their sums were kept.
        </p>
      )}
      <MessageSheet workspace={workspace} />
    </>
  );
}

function ShownSum({ page: { items, nextCursor } }: { page: ActivityPage }) {
  const count = formatCount(items.length, "row");
  return (
    <p className="text-lg">
      <Money usd={sumOfItems(items)} figure="shown_usd" className="font-semibold" />{" "}
      <span className="text-muted-foreground">
        {nextCursor === null ? `in ${count}` : `in the ${count} shown so far`}
      </span>
    </p>
  );
}

/** The state of a list's pages. The first page is replaced whenever the server renders it again. */
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
        `${source}&limit=${rowsPerPage}&cursor=${cursor}`,
      );
      setShown((before) => appendPage(before, toPage(answer)));
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      toastProblem(error.message);
    } finally {
      setLoading(false);
    }
  };
  /** Drops the pages below the first one, because they were read before rows changed. */
  const forgetOlder = () => setShown(first);
  return { shown, loadMore, isLoading, forgetOlder };
}
