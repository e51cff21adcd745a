import { ReceiptText, Upload } from "lucide-react";
import type { Metadata } from "next";
import { cookies } from "next/headers";
import type { ComponentProps } from "react";
import { ActivityList } from "@/components/activity/activity-list";
import { AddCost } from "@/components/activity/add-cost";
import { columnsCookie, readColumns } from "@/components/activity/columns";
import { ExportMenu } from "@/components/activity/export-menu";
import { FilterBar } from "@/components/activity/filter-bar";
import { activeFilters } from "@/components/activity/filters";
import { toPage } from "@/components/activity/row";
import { toSession } from "@/components/activity/session";
import { SessionTable } from "@/components/activity/session-table";
import { SessionTotal, Totals } from "@/components/activity/totals";
import { hrefWith, type SearchParams } from "@/components/filters/href";
import { hrefOfPeriod, keepRange } from "@/components/filters/range";
import { PageHeader } from "@/components/shell/page-header";
import { AddSourceLink } from "@/components/sources/add-source-link";
import { buttonVariants } from "@/components/ui/button";
import { EmptyState } from "@/components/ui/empty-state";
import { Link } from "@/components/ui/link";
import type { SessionsQuery } from "@/lib/contract/spend/sessions";
import { ServiceError } from "@/lib/errors";
import { readSessions } from "@/lib/spend/activity/sessions";
import { readActivityView } from "@/lib/spend/views/activity";
import { requireWorkspace } from "../membership";
import { clockNow, readRememberedRange } from "../page-range";
import { parseSearch } from "./search";

export const metadata: Metadata = { title: "Activity" };

type Props = { params: Promise<{ workspace: string }>; searchParams: Promise<SearchParams> };

/** The recorded costs, row by row, with their sums. States: rows, none, none that match the filters, and an invalid address. */
export default async function ActivityPage({ params, searchParams }: Props) {
  const { claims, workspace, reader } = await requireWorkspace((await params).workspace);
  const { slug } = workspace;
  const path = `/${slug}/activity`;
  const query = parseSearch(
    await searchParams,
    await readRememberedRange(),
    reader.display?.currency,
    clockNow(workspace),
  );
  if (query.problem !== undefined) return <InvalidAddress path={path} problem={query.problem} />;

  const filters = new URLSearchParams(query.filters).toString();
  const environment = query.filters.environment === "test" ? "test" : "live";
  const shownRows = query.rows ? await readActivityView(claims, slug, query) : undefined;
  return (
    <>
      <PageHeader
        title="Activity"
        actions={
          <>
            {shownRows ? <ExportMenu workspace={slug} filters={filters} /> : null}
            {workspace.role === "viewer" ? null : (
              <>
                <Link href={`${path}/import`} className={buttonVariants({ variant: "outline" })}>
                  <Upload aria-hidden="true" />
                  Import
                </Link>
                <AddCost workspace={slug} environment={environment} />
              </>
            )}
          </>
        }
      />
      <FilterBar
        workspace={slug}
        path={path}
        params={query.params}
        range={query.range}
        filters={activeFilters(query.params, shownRows?.list.activity[0])}
        metricsPath={`/api/v1/workspaces/${slug}/metrics?${new URLSearchParams(query.days)}`}
      />
      {query.sessions ? (
        <Sessions
          slug={slug}
          path={path}
          params={query.params}
          query={query.sessions}
          isFiltered={query.isFiltered}
          claims={claims}
        />
      ) : null}
      {shownRows && query.rows ? (
        <Rows
          slug={slug}
          filters={`${filters}${query.sort ? `&sort=${query.sort}` : ""}${reader.display ? `&currency=${reader.display.currency}` : ""}`}
          first={toPage(shownRows.list)}
          isLatestFirst={query.rows.sort === "-time"}
          mayChange={workspace.role !== "viewer"}
          summary={
            shownRows.totals ? (
              <Totals {...shownRows.totals} path={path} params={query.params} />
            ) : shownRows.session ? (
              <SessionTotal {...toSession(shownRows.session)} />
            ) : undefined
          }
          empty={
            query.isFiltered ? (
              <NoMatch path={path} params={query.params} />
            ) : (
              <NoRows workspace={workspace} path={path} params={query.params} />
            )
          }
        />
      ) : null}
    </>
  );
}

async function Rows({
  slug,
  filters,
  ...list
}: { slug: string; filters: string } & Omit<
  ComponentProps<typeof ActivityList>,
  "workspace" | "source" | "remembered"
>) {
  const source = `/api/v1/workspaces/${slug}/activity?${filters}`;
  const remembered = readColumns((await cookies()).get(columnsCookie)?.value);
  return <ActivityList key={source} workspace={slug} source={source} remembered={remembered} {...list} />;
}

/** The sessions of the rows that match. States: sessions, none, and too many rows to sum. */
async function Sessions({
  slug,
  path,
  params,
  query,
  isFiltered,
  claims,
}: {
  slug: string;
  path: string;
  params: SearchParams;
  query: SessionsQuery;
  isFiltered: boolean;
  claims: Parameters<typeof readSessions>[0];
}) {
  const read = await readSessions(claims, slug, query).catch((error: unknown) => {
    if (error instanceof ServiceError && error.code === "validation_failed") return error;
    throw error;
  });
  if (read instanceof ServiceError) {
    return (
      <EmptyState title="Too many rows to sum by session">
        Sessions of at most 100,000 messages are summed. Choose fewer days, a project or a model.
      </EmptyState>
    );
  }
  if (read.sessions.length === 0) {
    return isFiltered ? (
      <NoMatch path={path} params={params} />
    ) : (
      <EmptyState icon={<ReceiptText />} title="No sessions in this period">
        A session groups the calls of one run of an agent, or of one conversation: send its name as{" "}
        <code>session</code> of each call.
      </EmptyState>
    );
  }
  const source = `/api/v1/workspaces/${slug}/sessions?${new URLSearchParams(
    Object.entries(query).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, String(value ?? "")]],
    ),
  )}`;
  return (
    <SessionTable
      key={source}
      source={source}
      first={{ sessions: read.sessions.map(toSession), nextCursor: read.next_cursor }}
      path={path}
      params={params}
    />
  );
}

function NoMatch({ path, params }: { path: string; params: SearchParams }) {
  return (
    <EmptyState
      icon={<ReceiptText />}
      title="Nothing matches these filters"
      action={
        <Link href={hrefWith(path, keepRange(params), {})} className={buttonVariants({ variant: "outline" })}>
          Clear filters
        </Link>
      }
    >
      Remove a filter, or choose a longer period.
    </EmptyState>
  );
}

function NoRows({
  workspace,
  path,
  params,
}: {
  workspace: { slug: string; role: string };
  path: string;
  params: SearchParams;
}) {
  return (
    <EmptyState
      icon={<ReceiptText />}
      title="Nothing was recorded in this period"
      action={
        <span className="flex flex-wrap justify-center gap-2">
          {params.period === "all" ? null : (
            <Link
              href={hrefOfPeriod(path, keepRange(params), { period: "all" })}
              className={buttonVariants({ variant: "outline" })}
            >
              Show all time
            </Link>
          )}
          <AddSourceLink workspace={workspace} />
        </span>
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
