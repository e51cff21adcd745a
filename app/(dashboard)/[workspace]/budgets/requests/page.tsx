import { HandCoins } from "lucide-react";
import type { Metadata } from "next";
import type { z } from "zod";
import { requireWorkspace } from "@/app/(dashboard)/[workspace]/membership";
import { type AskedLimit, AskForMore } from "@/components/budgets/ask-for-more";
import { RequestList } from "@/components/budgets/request-list";
import { exactText } from "@/components/figures/amount";
import { utcDay } from "@/components/figures/utc-day";
import type { SearchParams } from "@/components/filters/href";
import { PageHeader } from "@/components/shell/page-header";
import { buttonVariants } from "@/components/ui/button";
import { EmptyState } from "@/components/ui/empty-state";
import { Link } from "@/components/ui/link";
import type { apiKey } from "@/lib/contract/access/api-keys";
import type { budget } from "@/lib/contract/spend/budgets";
import { listApiKeys } from "@/lib/keys/management/service";
import { listRequests } from "@/lib/spend/budget-requests/list";
import { listBudgets } from "@/lib/spend/budgets/service";

export const metadata: Metadata = { title: "Budget requests" };

type ApiKey = z.output<typeof apiKey>;
type Budget = z.output<typeof budget>;
type Props = { params: Promise<{ workspace: string }>; searchParams: Promise<SearchParams> };

/** Requests raises of budgets and limits of keys, and decides the requests of others. The form preselects the one in the address. */
export default async function BudgetRequestsPage({ params, searchParams }: Props) {
  const {
    claims,
    workspace: { slug },
  } = await requireWorkspace((await params).workspace);
  const { budget, key } = await searchParams;
  const [{ requests, can_ask: canAsk }, { budgets }, { api_keys: keys }] = await Promise.all([
    listRequests(claims, slug),
    listBudgets(claims, slug),
    listApiKeys(claims, slug),
  ]);
  const limits = [...budgets.map(toAskedBudget), ...keys.flatMap(toAskedKey)];
  const chosen = budget ?? key;
  const pending = requests.filter(({ state }) => state === "pending");
  const others = requests.filter(({ state }) => state !== "pending");
  return (
    <>
      <PageHeader title="Requests" parent={{ href: `/${slug}/budgets`, label: "Budgets" }} />
      <div className="grid max-w-3xl grid-cols-[minmax(0,1fr)] gap-8">
        {canAsk && limits.length > 0 ? (
          <AskForMore
            workspace={slug}
            today={utcDay(Date.now())}
            chosen={typeof chosen === "string" ? chosen : undefined}
            limits={limits}
          />
        ) : null}
        {requests.length === 0 ? (
          <EmptyState
            icon={<HandCoins />}
            title="Nobody has asked for more"
            action={
              limits.length === 0 ? (
                <Link href={`/${slug}/budgets`} className={buttonVariants({ variant: "outline" })}>
                  Open the budgets
                </Link>
              ) : null
            }
          >
            {limits.length === 0
              ? "There is no budget yet, and no key with a monthly limit, that more could be asked of."
              : "A request goes to those who may decide. Approved, it raises the limit until a day, and the raise ends by itself."}
          </EmptyState>
        ) : null}
        <Part title="Waiting" workspace={slug} requests={pending} />
        <Part title="Decided" workspace={slug} requests={others} />
      </div>
    </>
  );
}

const toAskedBudget = ({ id, name, usual_amount: limit, currency }: Budget): AskedLimit => ({
  kind: "budget",
  id,
  name,
  limit: exactText(limit),
  currency,
});

function toAskedKey({ id, name, kind, status, monthly_limit: limit }: ApiKey): AskedLimit[] {
  if (kind !== "key" || status === "revoked" || limit === null) return [];
  return [{ kind: "key", id, name, limit: exactText(limit), currency: "USD" }];
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
