import type { Metadata } from "next";
import { Suspense } from "react";
import { oneOf, type SearchParams } from "@/components/filters/href";
import { EnvironmentSwitch, PeriodPicker } from "@/components/filters/pickers";
import { BudgetSentence } from "@/components/overview/budget-sentence";
import { Headline } from "@/components/overview/headline";
import { OverviewSkeleton } from "@/components/overview/overview-skeleton";
import { PageHeader } from "@/components/shell/page-header";
import { SpendBreakdowns } from "@/components/spend/spend-breakdowns";
import { SpendOverTime } from "@/components/spend/spend-over-time";
import { SpendStats } from "@/components/spend/spend-stats";
import type { Dimension } from "@/lib/contract/metrics";
import { readOverview } from "@/lib/spend/views/overview";
import { requireWorkspace } from "../membership";
import { Onboarding } from "./onboarding";

type Props = { params: Promise<{ workspace: string }>; searchParams: Promise<SearchParams> };

export const metadata: Metadata = { title: "Overview" };

const periods = ["month", "week", "quarter", "year", "all"] as const;
const chartDimensions: Dimension[] = ["project", "model", "provider", "user", "type"];
const breakdownDimensions: Dimension[] = ["project", "model", "feature", "provider", "user", "tag"];

/** The overview of a workspace: spend, forecast, budgets and breakdowns. Before the first message, the onboarding. */
export default async function OverviewPage({ params, searchParams }: Props) {
  const { workspace } = await params;
  const search = await searchParams;
  const path = `/${workspace}`;
  return (
    <>
      <PageHeader
        title="Overview"
        actions={
          <>
            <EnvironmentSwitch path={path} params={search} />
            <PeriodPicker path={path} params={search} periods={periods} />
          </>
        }
      />
      <Suspense fallback={<OverviewSkeleton />}>
        <Overview slug={workspace} search={search} />
      </Suspense>
    </>
  );
}

async function Overview({ slug, search }: { slug: string; search: SearchParams }) {
  const { claims } = await requireWorkspace(slug);
  const query = {
    period: oneOf(search, "period", periods),
    environment: oneOf(search, "environment", ["live", "test"]),
  };
  const metricsQuery = { ...query, group_by: oneOf(search, "by", chartDimensions) };
  const { now, metrics, budgets, projectOrder } = await readOverview(claims, slug, metricsQuery);
  // The first message creates a project, so without projects nothing was ever recorded.
  if (projectOrder.length === 0) return <Onboarding slug={slug} />;
  const view = { workspace: slug, metrics, filter: query, projectOrder };
  // Budgets count live spend of a month.
  const hasBudgets = query.period === "month" && query.environment === "live";
  const globalBudget = hasBudgets ? budgets.find(({ scope_type: scope }) => scope === "global") : undefined;
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-8">
      <div className="grid gap-3">
        <Headline metrics={metrics} budget={globalBudget?.amount} />
        <BudgetSentence budgets={budgets} href={`/${slug}/budgets`} />
      </div>
      <SpendStats view={view} />
      <SpendOverTime view={view} dimensions={chartDimensions} path={`/${slug}`} params={search} now={now} />
      <SpendBreakdowns view={view} dimensions={breakdownDimensions} />
    </div>
  );
}
