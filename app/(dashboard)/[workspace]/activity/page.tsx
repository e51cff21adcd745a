import { ReceiptText, Upload } from "lucide-react";
import type { Metadata } from "next";
import Link from "next/link";
import { ActivityList } from "@/components/activity/activity-list";
import { AddCost } from "@/components/activity/add-cost";
import { ExportMenu } from "@/components/activity/export-menu";
import { FilterBar } from "@/components/activity/filter-bar";
import { activeFilters } from "@/components/activity/filters";
import { toItem } from "@/components/activity/row";
import { Totals } from "@/components/activity/totals";
import { hrefWith, type SearchParams } from "@/components/filters/href";
import { PageHeader } from "@/components/shell/page-header";
import { buttonVariants } from "@/components/ui/button";
import { EmptyState } from "@/components/ui/empty-state";
import { readActivityView } from "@/lib/spend/views/activity";
import { requireWorkspace } from "../membership";
import { readSearch } from "./search";

export const metadata: Metadata = { title: "Activity" };

type Props = { params: Promise<{ workspace: string }>; searchParams: Promise<SearchParams> };

/** What was recorded, row by row, and what it sums to. */
export default async function ActivityPage({ params, searchParams }: Props) {
  const { claims, workspace } = await requireWorkspace((await params).workspace);
  const { slug } = workspace;
  const path = `/${slug}/activity`;
  const asked = readSearch(await searchParams);
  if (asked.problem !== undefined) return <NotUnderstood path={path} problem={asked.problem} />;

  const { list, totals } = await readActivityView(claims, slug, asked);
  const filters = new URLSearchParams(asked.filters).toString();
  const source = `/api/v1/workspaces/${slug}/activity?${filters}`;
  return (
    <>
      <PageHeader
        title="Activity"
        actions={
          <>
            <ExportMenu workspace={slug} filters={filters} />
            {workspace.role === "viewer" ? null : (
              <>
                <Link href={`${path}/import`} className={buttonVariants({ variant: "outline" })}>
                  <Upload aria-hidden="true" />
                  Import
                </Link>
                <AddCost workspace={slug} environment={asked.rows.environment ?? "live"} />
              </>
            )}
          </>
        }
      />
      <FilterBar
        path={path}
        params={asked.params}
        filters={activeFilters(asked.params, list.activity[0])}
        metricsPath={`/api/v1/workspaces/${slug}/metrics?${new URLSearchParams(asked.days)}`}
      />
      <ActivityList
        key={source}
        workspace={slug}
        source={source}
        first={{ items: list.activity.map(toItem), nextCursor: list.next_cursor }}
        summary={totals ? <Totals totals={totals} path={path} params={asked.params} /> : undefined}
        empty={<Nothing path={path} params={asked.params} isFiltered={asked.isFiltered} />}
      />
    </>
  );
}

function Nothing({ path, params, isFiltered }: { path: string; params: SearchParams; isFiltered: boolean }) {
  const { period, from, to, environment } = params;
  if (isFiltered) {
    return (
      <EmptyState
        icon={<ReceiptText />}
        title="Nothing matches these filters"
        action={
          <Link
            href={hrefWith(path, { period, from, to, environment }, {})}
            className={buttonVariants({ variant: "outline" })}
          >
            Clear filters
          </Link>
        }
      >
        Take one of them away, or look further back.
      </EmptyState>
    );
  }
  return (
    <EmptyState
      icon={<ReceiptText />}
      title="Nothing was recorded in this time"
      action={
        period === "all" ? (
          <a href="/docs" className={buttonVariants({ variant: "outline" })}>
            How to send costs
          </a>
        ) : (
          <Link
            href={hrefWith(path, { environment }, { period: "all" })}
            className={buttonVariants({ variant: "outline" })}
          >
            Show all time
          </Link>
        )
      }
    >
      Costs appear here the moment they are recorded, by an API key, an assistant, a file or by hand.
    </EmptyState>
  );
}

function NotUnderstood({ path, problem }: { path: string; problem: string }) {
  return (
    <>
      <PageHeader title="Activity" />
      <EmptyState
        title="This address asks for something there is not"
        action={
          <Link href={path} className={buttonVariants({ variant: "outline" })}>
            Show this month
          </Link>
        }
      >
        In it, {problem}.
      </EmptyState>
    </>
  );
}
