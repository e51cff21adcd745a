"use client";

import { useState } from "react";
import { formatCount } from "@/components/figures/format-count";
import { Money } from "@/components/figures/money";
import { Time } from "@/components/figures/time";
import { hrefWith, type SearchParams } from "@/components/filters/href";
import { callApi, Problem } from "@/components/requests/api";
import { Link } from "@/components/ui/link";
import { LoadMore } from "@/components/ui/load-more";
import { TableBody, TableCell, TableHead, TableHeader, TableRow } from "@/components/ui/table";
import { toastProblem } from "@/components/ui/toaster";
import type { sessionList } from "@/lib/contract/spend/sessions";
import { type SessionItem, toSession } from "./session";

/**
 * Sessions with what their calls cost, each a link to its rows.
 * @param props.source path of the sessions endpoint with its filters
 */
export function SessionTable({
  source,
  first,
  path,
  params,
}: {
  source: string;
  first: { sessions: SessionItem[]; nextCursor: string | null };
  path: string;
  params: SearchParams;
}) {
  const [{ sessions, nextCursor }, setShown] = useState(first);
  const [isLoading, setLoading] = useState(false);
  const loadMore = async () => {
    if (nextCursor === null) return;
    setLoading(true);
    try {
      const answer = await callApi<typeof sessionList>(
        "GET",
        `${source}&cursor=${encodeURIComponent(nextCursor)}`,
      );
      setShown({
        sessions: [...sessions, ...answer.sessions.map(toSession)],
        nextCursor: answer.next_cursor,
      });
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      toastProblem(error.message);
    } finally {
      setLoading(false);
    }
  };
  const isByTime = params.sort === "-time";
  const head = (label: string, sort: "-amount" | "-time", className: string) => {
    const isCurrent = isByTime === (sort === "-time");
    return (
      <TableHead aria-sort={isCurrent ? "descending" : "none"} className={className}>
        <Link
          href={hrefWith(path, params, { sort })}
          scroll={false}
          className={`hover:text-foreground ${isCurrent ? "text-foreground" : ""}`}
        >
          {label}
        </Link>
      </TableHead>
    );
  };
  return (
    <>
      <table className="w-full text-sm" aria-label="Sessions">
        <TableHeader>
          <TableRow>
            <TableHead className="pl-0">Session</TableHead>
            {head("Latest call", "-time", "hidden sm:table-cell")}
            <TableHead className="text-right">Calls</TableHead>
            {head("Amount", "-amount", "pr-0 text-right")}
          </TableRow>
        </TableHeader>
        <TableBody>
          {sessions.map(({ session, usd, calls, to, models }) => (
            <TableRow key={session} className="relative hover:bg-muted">
              <TableCell className="w-full max-w-0 pl-0">
                <Link
                  href={hrefWith(path, params, { session, group: undefined, sort: undefined })}
                  className="block truncate font-medium after:absolute after:inset-0 focus-visible:after:outline-2"
                >
                  {session}
                </Link>
                <span className="block truncate text-muted-foreground text-xs">{models}</span>
              </TableCell>
              <TableCell className="hidden whitespace-nowrap text-muted-foreground sm:table-cell">
                <Time at={to} />
              </TableCell>
              <TableCell className="whitespace-nowrap text-right">{formatCount(calls, "call")}</TableCell>
              <TableCell className="whitespace-nowrap pr-0 text-right">
                <Money usd={usd} figure="sessions.amount_usd" />
              </TableCell>
            </TableRow>
          ))}
        </TableBody>
      </table>
      {nextCursor === null ? null : <LoadMore onClick={loadMore} pending={isLoading} />}
    </>
  );
}
