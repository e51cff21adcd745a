import { Gauge } from "lucide-react";
import type { Metadata } from "next";
import { requireWorkspace } from "@/app/(dashboard)/[workspace]/membership";
import { readRememberedViews } from "@/app/(dashboard)/[workspace]/remembered-views";
import { BudgetActions } from "@/components/budgets/budget-actions";
import { BudgetCard } from "@/components/budgets/budget-card";
import { toBudgetRow } from "@/components/budgets/budget-row";
import { BudgetTable } from "@/components/budgets/budget-table";
import { budgetsSentenceId, sortByUse, toEditableBudget } from "@/components/budgets/budget-view";
import { NewBudget } from "@/components/budgets/new-budget";
import { ProviderLimits } from "@/components/budgets/provider-limits";
import { exactText } from "@/components/figures/amount";
import type { SearchParams } from "@/components/filters/href";
import { BudgetSentence } from "@/components/overview/budget-sentence";
import { RefreshWhile } from "@/components/prices/refresh-while";
import { PageHeader } from "@/components/shell/page-header";
import { Badge } from "@/components/ui/badge";
import { buttonVariants } from "@/components/ui/button";
import { EmptyState } from "@/components/ui/empty-state";
import { Link } from "@/components/ui/link";
import { SegmentedLinks } from "@/components/ui/segmented-control";
import { listCrossings } from "@/lib/alerts/log/crossings";
import { listLimits } from "@/lib/bills/limits/service";
import { listRequests } from "@/lib/spend/budget-requests/list";
import { listBudgets } from "@/lib/spend/budgets/service";

export const metadata: Metadata = { title: "Budgets" };

type Props = { params: Promise<{ workspace: string }>; searchParams: Promise<SearchParams> };

/** The budgets of a workspace, the most used first, as cards or as a table. Without a budget, it says what budgets are for. */
export default async function BudgetsPage({ params, searchParams }: Props) {
  const {
    claims,
    user,
    workspace: { slug, time_zone: timeZone },
  } = await requireWorkspace((await params).workspace);
  const [{ budgets, can_edit: canEdit }, { requests, can_ask: canAsk }, { limits }] = await Promise.all([
    listBudgets(claims, slug),
    listRequests(claims, slug),
    listLimits(claims, slug),
  ]);
  const limitsOf = (id: string | null) => limits.filter(({ budget }) => (budget?.id ?? null) === id);
  const showLimits = (id: string | null, amount?: string) => (
    <ProviderLimits limits={limitsOf(id)} amount={amount} workspace={slug} canEdit={canEdit} />
  );
  const waiting = requests.filter(({ state }) => state === "pending").length;
  const began = budgets.map(({ period_from: from }) => from).sort()[0];
  const crossings = began === undefined ? [] : await listCrossings(claims, slug, began);
  const isTable = (await searchParams).show === "table";
  const create = canEdit ? <NewBudget workspace={slug} /> : null;
  return (
    <>
      <PageHeader
        title="Budgets"
        actions={
          budgets.length > 0 || requests.length > 0 ? (
            <>
              <Link href={`/${slug}/budgets/requests`} className={buttonVariants({ variant: "outline" })}>
                Requests
                {waiting > 0 ? <Badge variant="warning">{waiting} waiting</Badge> : null}
              </Link>
              {budgets.length > 0 ? create : null}
            </>
          ) : null
        }
      />
      {budgets.length === 0 ? (
        <EmptyState icon={<Gauge />} title="No budget yet" action={create}>
          A budget is a limit on all spend, or on one project, feature, provider, model, key, person or tag,
          per day, week, month, quarter or year. It alerts you at the percentages that you choose, forecasts
          the day on which it will be used up, and can refuse to record costs that would exceed it; the call
          to the model has happened by then.
          {canEdit ? null : " Admins of this workspace can set one."}
        </EmptyState>
      ) : (
        <div className="grid grid-cols-[minmax(0,1fr)] gap-6">
          <div className="flex flex-wrap items-start justify-between gap-x-6 gap-y-3">
            <div id={budgetsSentenceId} tabIndex={-1} className="outline-none">
              <BudgetSentence budgets={budgets} />
              <p className="pt-1 text-muted-foreground text-xs">
                Days of {timeZone}, unless a budget names another time zone
              </p>
            </div>
            {budgets.length > 1 ? (
              <SegmentedLinks
                label="Show budgets as"
                options={[
                  { href: `/${slug}/budgets`, label: "Cards", current: !isTable },
                  { href: `/${slug}/budgets?show=table`, label: "Table", current: isTable },
                ]}
              />
            ) : null}
          </div>
          {isTable ? (
            <BudgetTable
              budgets={budgets.map((budget) => toBudgetRow(budget, slug, limitsOf(budget.id)))}
              workspace={slug}
              canEdit={canEdit}
              views={await readRememberedViews(user.id)}
            />
          ) : (
            <div data-rows className="grid gap-4 md:grid-cols-2">
              {sortByUse(budgets).map((budget) => (
                <BudgetCard
                  key={budget.id}
                  budget={budget}
                  workspace={slug}
                  canAsk={canAsk}
                  reached={crossings
                    .filter(
                      ({ budget_id: id, period_from: from }) =>
                        id === budget.id && from === budget.period_from,
                    )
                    .map(({ level, at, was_above: wasAbove }) => ({ level, at, wasAbove }))}
                  actions={
                    canEdit ? <BudgetActions workspace={slug} budget={toEditableBudget(budget)} /> : null
                  }
                  limits={showLimits(budget.id, exactText(budget.amount))}
                />
              ))}
            </div>
          )}
        </div>
      )}
      <RefreshWhile isRunning={limits.some((limit) => limit.is_due)} />
      {limits.some(({ budget }) => budget === null) ? (
        <section className="grid gap-3 pt-6">
          <h2 className="font-medium text-sm">Limits of deleted budgets</h2>
          {showLimits(null)}
        </section>
      ) : null}
    </>
  );
}
