import { HandCoins } from "lucide-react";
import type { Metadata } from "next";
import { requireWorkspace } from "@/app/(dashboard)/[workspace]/membership";
import { AskForMore } from "@/components/budgets/ask-for-more";
import { RequestList } from "@/components/budgets/request-list";
import { exactText } from "@/components/figures/amount";
import { utcDay } from "@/components/figures/utc-day";
import type { SearchParams } from "@/components/filters/href";
import { PageHeader } from "@/components/shell/page-header";
import { buttonVariants } from "@/components/ui/button";
import { EmptyState } from "@/components/ui/empty-state";
import { Link } from "@/components/ui/link";
import { listRequests } from "@/lib/spend/budget-requests/service";
import { listBudgets } from "@/lib/spend/budgets/service";

export const metadata: Metadata = { title: "Budget requests" };

type Props = { params: Promise<{ workspace: string }>; searchParams: Promise<SearchParams> };

/** Requests raises of budgets, and decides the requests of others. The form preselects the budget in the address. */
export default async function BudgetRequestsPage({ params, searchParams }: Props) {
  const {
    claims,
    workspace: { slug },
  } = await requireWorkspace((await params).workspace);
  const { budget } = await searchParams;
  const [{ requests, can_ask: canAsk }, { budgets }] = await Promise.all([
    listRequests(claims, slug),
    listBudgets(claims, slug),
  ]);
  const pending = requests.filter(({ state }) => state === "pending");
  const others = requests.filter(({ state }) => state !== "pending");
  return (
    <>
      <PageHeader title="Requests" parent={{ href: `/${slug}/budgets`, label: "Budgets" }} />
      <div className="grid max-w-3xl grid-cols-[minmax(0,1fr)] gap-8">
        {canAsk && budgets.length > 0 ? (
          <AskForMore
            workspace={slug}
            today={utcDay(Date.now())}
            chosen={typeof budget === "string" ? budget : undefined}
            budgets={budgets.map(({ id, name, usual_amount: limit, currency }) => ({
              id,
              name,
              limit: exactText(limit),
              currency,
            }))}
          />
        ) : null}
        {requests.length === 0 ? (
          <EmptyState
            icon={<HandCoins />}
            title="Nobody has asked for more"
            action={
              budgets.length === 0 ? (
                <Link href={`/${slug}/budgets`} className={buttonVariants({ variant: "outline" })}>
                  Open the budgets
                </Link>
              ) : null
            }
          >
            {budgets.length === 0
              ? "There is no budget yet that more could be asked of."
              : "A request goes to the budget's owner and to those whom it warns. Approved, it raises the limit until a day, and the raise ends by itself."}
          </EmptyState>
        ) : null}
        <Part title="Waiting" workspace={slug} requests={pending} />
        <Part title="Decided" workspace={slug} requests={others} />
      </div>
    </>
  );
}

function Part({ title, ...list }: Omit<Parameters<typeof RequestList>[0], "label"> & { title: string }) {
  if (list.requests.length === 0) return null;
  return (
    <section className="grid gap-3">
      <h2 className="font-medium">{title}</h2>
      <RequestList {...list} label={title} />
    </section>
  );
}
