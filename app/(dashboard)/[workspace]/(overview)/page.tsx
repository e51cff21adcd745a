import type { Metadata } from "next";
import { Suspense } from "react";
import { HistorySentence } from "@/components/bills/history-sentence";
import { environments, hrefWith, oneOf, type SearchParams } from "@/components/filters/href";
import { EnvironmentSwitch } from "@/components/filters/pickers";
import { RangePicker } from "@/components/filters/range-picker";
import { ChoiceProblem, RangeProblem } from "@/components/filters/range-problem";
import { FirstSteps } from "@/components/onboarding/first-steps";
import { TryTheApi } from "@/components/onboarding/on-demand";
import { BudgetSentence } from "@/components/overview/budget-sentence";
import { CoverageSentence } from "@/components/overview/coverage-sentence";
import { Headline } from "@/components/overview/headline";
import { LiveOverview } from "@/components/overview/live-overview";
import { OverviewSkeleton } from "@/components/overview/overview-skeleton";
import { PageHeader } from "@/components/shell/page-header";
import { SpendBreakdowns } from "@/components/spend/spend-breakdowns";
import { SpendOverTime } from "@/components/spend/spend-over-time";
import { SpendStats } from "@/components/spend/spend-stats";
import { toSpendView } from "@/components/spend/spend-view";
import { WhatChanged } from "@/components/spend/what-changed";
import { listChannels } from "@/lib/alerts/channels/service";
import { daysOf, withHistory } from "@/lib/bills/add-history";
import { coveragePercent, isBelow, leastCoverage, readCoverage } from "@/lib/bills/coverage";
import { readHistory } from "@/lib/bills/history";
import type { RangeQuery } from "@/lib/contract/spend/ledger-query";
import type { Dimension } from "@/lib/contract/spend/metrics";
import { toText } from "@/lib/decimal";
import { listSources } from "@/lib/keys/sources/service";
import { readActivity } from "@/lib/spend/activity/service";
import { listBudgets } from "@/lib/spend/budgets/service";
import { readOverview } from "@/lib/spend/views/overview";
import { requireWorkspace } from "../membership";
import { clockNow, readPageRange, readRememberedRange } from "../page-range";
import { serviceAddresses } from "../service-addresses";
import { readThresholdNotes } from "../threshold-notes";

type Props = { params: Promise<{ workspace: string }>; searchParams: Promise<SearchParams> };

export const metadata: Metadata = { title: "Overview" };

const chartDimensions: Dimension[] = ["project", "model", "provider", "user", "type"];
const breakdownDimensions: Dimension[] = ["project", "model", "feature", "provider", "user", "tag"];

/** The overview of a workspace: spend, forecast, budgets and breakdowns. Before the first message, the onboarding. */
export default async function OverviewPage({ params, searchParams }: Props) {
  const { workspace } = await requireWorkspace((await params).workspace);
  const shown = readPageRange(await searchParams, await readRememberedRange(), clockNow(workspace));
  const path = `/${workspace.slug}`;
  return (
    <>
      <PageHeader
        title="Overview"
        actions={
          <>
            <EnvironmentSwitch path={path} params={shown.params} />
            <RangePicker path={path} params={shown.params} range={shown.range} />
          </>
        }
      />
      <RangeProblem problem={shown.problem} />
      <ChoiceProblem
        params={shown.params}
        choices={{ environment: environments, by: chartDimensions, history: ["on", "off"] }}
      />
      <Suspense fallback={<OverviewSkeleton />}>
        <Overview slug={workspace.slug} search={shown.params} range={shown.query} />
      </Suspense>
    </>
  );
}

async function Overview({ slug, search, range }: { slug: string; search: SearchParams; range: RangeQuery }) {
  const { claims, workspace, reader } = await requireWorkspace(slug);
  const environment = oneOf(search, "environment", environments);
  const metricsQuery = {
    ...range,
    environment,
    group_by: oneOf(search, "by", chartDimensions),
    currency: reader.display?.currency,
  };
  const read = await readOverview(claims, slug, metricsQuery);
  const { now, tag, changes, budgets, projectOrder } = read;
  const days =
    environment === "live"
      ? await readHistory(claims, slug, daysOf(read.metrics), metricsQuery.currency)
      : [];
  const { metrics, history } = withHistory(read.metrics, days, search.history);
  const counted = history?.isCounted ? history : undefined;
  if (environment === "live" && metrics.totals.message_count === 0 && days.length === 0) {
    const { activity } = await readActivity(claims, slug, {
      period: "all",
      environment,
      sort: "-time",
      limit: 1,
    });
    if (activity.length === 0)
      return <Onboarding slug={slug} start={search.start} hasTestData={projectOrder.length > 0} />;
  }
  const view = { ...toSpendView(slug, metrics, { environment }, projectOrder, now), history: counted };
  const coverage = environment === "live" ? await readCoverage(claims, slug) : null;
  const notes = await readThresholdNotes(claims, workspace, metrics, { environment });
  // Budgets count live spend of a month.
  const hasBudgets = metrics.period === "month" && environment === "live";
  // Budgets count what was recorded alone.
  const globalBudget =
    hasBudgets && !counted ? budgets.find(({ scope_type: scope }) => scope === "global") : undefined;
  const source = hrefWith(`/api/v1/workspaces/${slug}/metrics`, range, { environment });
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-8">
      <LiveOverview source={source} tag={tag} />
      <div className="grid gap-3">
        <Headline view={view} budget={globalBudget?.amount} />
        {environment === "live" ? <BudgetSentence budgets={budgets} href={`/${slug}/budgets`} /> : null}
        {coverage && isBelow(coverage, leastCoverage) ? (
          <CoverageSentence
            workspace={slug}
            month={coverage.month}
            percent={coveragePercent(coverage) ?? "0"}
            missing={toText(coverage.missing)}
          />
        ) : null}
        {history ? (
          <HistorySentence
            {...history}
            href={hrefWith(`/${slug}`, search, { history: history.isCounted ? "off" : "on" })}
          />
        ) : null}
      </div>
      <SpendStats view={view} isBelowHeadline />
      <SpendOverTime
        view={view}
        dimensions={chartDimensions}
        path={`/${slug}`}
        params={search}
        notes={notes}
      />
      {changes && !counted ? (
        // It explains what was recorded alone.
        <WhatChanged workspace={slug} filter={{ environment }} changes={changes} />
      ) : null}
      <SpendBreakdowns view={view} dimensions={breakdownDimensions} />
    </div>
  );
}

/** The overview before the first live cost: the steps to record one, with a program or by the API, and to set up alerts. */
async function Onboarding({
  slug,
  start,
  hasTestData,
}: {
  slug: string;
  start: string | string[] | undefined;
  hasTestData: boolean;
}) {
  const { claims, profile, workspace } = await requireWorkspace(slug);
  const [
    { sources, can_create: canRecord },
    { budgets, can_edit: canEdit },
    { channels, can_mail: canMail },
  ] = await Promise.all([listSources(claims, slug), listBudgets(claims, slug), listChannels(claims, slug)]);
  if (start === "code")
    return <TryTheApi workspace={slug} canCreate={canRecord} addresses={serviceAddresses()} />;
  return (
    <FirstSteps
      workspace={slug}
      userName={profile.display_name}
      canRecord={canRecord}
      waiting={sources.map(({ id, name }) => ({ id, name }))}
      hasTestData={hasTestData}
      offersZone={canEdit && workspace.time_zone === "UTC" && workspace.next_time_zone === null}
      alerts={{
        budgets: budgets.map(({ name }) => name),
        channels: channels.filter(({ enabled }) => enabled).map(({ name }) => name),
        canEdit,
        canMail,
      }}
    />
  );
}
