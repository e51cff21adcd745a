import { ReceiptText, Upload } from "lucide-react";
import type { Metadata } from "next";
import { ActivityList } from "@/components/activity/activity-list";
import { AddCost } from "@/components/activity/add-cost";
import { ExportMenu } from "@/components/activity/export-menu";
import { FilterBar } from "@/components/activity/filter-bar";
import { activeFilters } from "@/components/activity/filters";
import { toPage } from "@/components/activity/row";
import { Totals } from "@/components/activity/totals";
import { hrefWith, type SearchParams } from "@/components/filters/href";
import { hrefOfPeriod, keepRange } from "@/components/filters/range";
import { PageHeader } from "@/components/shell/page-header";
import { buttonVariants } from "@/components/ui/button";
import { EmptyState } from "@/components/ui/empty-state";
import { Link } from "@/components/ui/link";
import { readActivityView } from "@/lib/spend/views/activity";
import { requireWorkspace } from "../membership";
import { parseSearch } from "./search";

export const metadata: Metadata = { title: "Activity" };

type Props = { params: Promise<{ workspace: string }>; searchParams: Promise<SearchParams> };

/** The recorded costs, row by row, with their sums. States: rows, none, none that match the filters, and an invalid address. */
export default async function ActivityPage({ params, searchParams }: Props) {
  const { claims, profile, workspace, reader } = await requireWorkspace((await params).workspace);
  const { slug } = workspace;
  const path = `/${slug}/activity`;
  const query = parseSearch(await searchParams, profile.shown_range, reader.display?.currency);
  if (query.problem !== undefined) return <InvalidAddress path={path} problem={query.problem} />;

  const { list, totals } = await readActivityView(claims, slug, query);
  const filters = new URLSearchParams(query.filters).toString();
  const currency = reader.display ? `&currency=${reader.display.currency}` : "";
  const source = `/api/v1/workspaces/${slug}/activity?${filters}${currency}`;
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
                <AddCost workspace={slug} environment={query.rows.environment ?? "live"} />
              </>
            )}
          </>
        }
      />
      <FilterBar
        path={path}
        params={query.params}
        range={query.range}
        filters={activeFilters(query.params, list.activity[0])}
        metricsPath={`/api/v1/workspaces/${slug}/metrics?${new URLSearchParams(query.days)}`}
      />
      <ActivityList
        key={source}
        workspace={slug}
        source={source}
        first={toPage(list)}
        summary={totals ? <Totals {...totals} path={path} params={query.params} /> : undefined}
        empty={<NoRows path={path} params={query.params} isFiltered={query.isFiltered} />}
      />
    </>
  );
}

function NoRows({ path, params, isFiltered }: { path: string; params: SearchParams; isFiltered: boolean }) {
  const { period } = params;
  if (isFiltered) {
    return (
      <EmptyState
        icon={<ReceiptText />}
        title="Nothing matches these filters"
        action={
          <Link
            href={hrefWith(path, keepRange(params), {})}
            className={buttonVariants({ variant: "outline" })}
          >
            Clear filters
          </Link>
        }
      >
        Remove a filter, or choose a longer period.
      </EmptyState>
    );
  }
  return (
    <EmptyState
      icon={<ReceiptText />}
      title="Nothing was recorded in this period"
      action={
        period === "all" ? (
          <a href="/docs" className={buttonVariants({ variant: "outline" })}>
            How to send costs
          </a>
        ) : (
          <Link
            href={hrefOfPeriod(path, keepRange(params), { period: "all" })}
            className={buttonVariants({ variant: "outline" })}
          >
            Show all time
          </Link>
        )
      }
    >
      Costs appear here as soon as they are recorded with an API key, by an assistant, from a file or by hand.
    </EmptyState>
  );
}

function InvalidAddress({ path, problem }: { path: string; problem: string }) {
  return (
    <>
      <PageHeader title="Activity" />
      <EmptyState
        title="This address is not valid"
        action={
          <Link href={`${path}?period=month`} className={buttonVariants({ variant: "outline" })}>
            Show this month
          </Link>
        }
      >
        A parameter of the address is wrong: {problem}.
      </EmptyState>
    </>
  );
}
