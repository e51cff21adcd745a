import { CircleUser } from "lucide-react";
import type { Metadata } from "next";
import { limitsOf, type MyLimit } from "@/components/account/my-limits";
import { SlackLinks } from "@/components/account/slack-links";
import { presentPeriod } from "@/components/budgets/budget-view";
import { RequestList } from "@/components/budgets/request-list";
import { exactText, sumAmounts } from "@/components/figures/amount";
import { formatPercent } from "@/components/figures/format-percent";
import { Money } from "@/components/figures/money";
import { Time } from "@/components/figures/time";
import { PageHeader } from "@/components/shell/page-header";
import { Badge } from "@/components/ui/badge";
import { EmptyState } from "@/components/ui/empty-state";
import { Link } from "@/components/ui/link";
import { Meter } from "@/components/ui/meter";
import { listLinks } from "@/lib/alerts/slack/links";
import { metricsQuery } from "@/lib/contract/spend/metrics";
import { listApiKeys } from "@/lib/keys/management/service";
import { listRequests } from "@/lib/spend/budget-requests/list";
import { listBudgets } from "@/lib/spend/budgets/service";
import { readCoveringBudgets } from "@/lib/spend/limits/covering-budgets";
import { readMetrics } from "@/lib/spend/metrics/service";
import { requireWorkspace } from "../membership";

export const metadata: Metadata = { title: "You" };

type Props = { params: Promise<{ workspace: string }> };

const linkClass = "rounded-sm underline-offset-4 [overflow-wrap:anywhere] hover:underline";

/** The reader's own page: their spend, what is left of each limit that applies to them, their requests, keys and sources. */
export default async function MePage({ params }: Props) {
  const {
    claims,
    user,
    workspace: { slug },
  } = await requireWorkspace((await params).workspace);
  const [{ api_keys: all }, { budgets }, { requests, can_ask: canAsk }, named, { links }] = await Promise.all(
    [
      listApiKeys(claims, slug),
      listBudgets(claims, slug),
      listRequests(claims, slug),
      readMetrics(claims, slug, metricsQuery.parse({ user: user.email, compare: "none" })),
      listLinks(claims, slug),
    ],
  );
  const keys = all.filter((key) => key.created_by?.id === user.id && key.status === "active");
  const live = keys.filter(({ environment }) => environment === "live");
  const limits = limitsOf(live, await readCoveringBudgets(claims, slug, live), budgets, user.email);
  const own = requests.filter(({ asked_by: person }) => person?.id === user.id);
  return (
    <>
      <PageHeader title="You" />
      <div className="grid max-w-3xl grid-cols-[minmax(0,1fr)] gap-8">
        <div className="grid gap-1">
          <p className="text-lg">
            <Link
              href={`/${slug}/activity?${new URLSearchParams({ user: user.email })}`}
              prefetch={false}
              className={linkClass}
            >
              <Money usd={named.totals.total_usd} figure="named" />
            </Link>{" "}
            this month in your name, <Money usd={sumAmounts(live.map(({ spent }) => spent))} figure="keys" />{" "}
            with your keys.
          </p>
          <p className="text-muted-foreground text-xs">
            In your name: costs whose user is {user.email}. With your keys: what the keys that you made have
            recorded in this UTC month, for anyone. A cost can be in both.
          </p>
        </div>
        <Part title="Limits that hold for you">
          {limits.length === 0 ? (
            <p className="text-muted-foreground text-sm">
              None. No budget counts what your keys record, and none of your keys has a limit.
            </p>
          ) : (
            <ul aria-label="Limits" className="grid gap-3">
              {limits.map((limit) => (
                <Limit key={limit.id} limit={limit} workspace={slug} canAsk={canAsk} />
              ))}
            </ul>
          )}
        </Part>
        <Part title="Your requests">
          {own.length === 0 ? (
            <p className="text-muted-foreground text-sm">You have not asked for more of a limit.</p>
          ) : (
            <RequestList workspace={slug} requests={own} label="Your requests" />
          )}
        </Part>
        {links.length === 0 ? null : (
          <Part title="Your Slack users">
            <SlackLinks workspace={slug} links={links} />
          </Part>
        )}
        <Part title="Your keys and sources">
          {keys.length === 0 ? (
            <EmptyState icon={<CircleUser />} title="You have made no key that is in use">
              A key lets a program record costs or read spend.{" "}
              <Link href={`/${slug}/keys`} className="underline underline-offset-4">
                Open the keys
              </Link>
            </EmptyState>
          ) : (
            <ul aria-label="Keys and sources" className="grid text-sm">
              {keys.map(({ id, name, source, spent, environment, last_used_at: usedAt }) => (
                <li
                  key={id}
                  className="grid gap-x-4 gap-y-1 border-t py-2.5 sm:flex sm:items-baseline sm:justify-between"
                >
                  <span className="flex flex-wrap items-center gap-x-2">
                    <Link
                      href={source ? `/${slug}/sources/${id}` : `/${slug}/keys`}
                      prefetch={false}
                      className={linkClass}
                    >
                      {name}
                    </Link>
                    {source ? <Badge variant="outline">Source</Badge> : null}
                    {environment === "test" ? <Badge variant="outline">Test</Badge> : null}
                  </span>
                  <span className="text-muted-foreground text-xs">
                    {usedAt === null ? (
                      "never used"
                    ) : (
                      <>
                        used <Time at={usedAt} />
                      </>
                    )}{" "}
                    · <Money usd={spent} /> this month
                  </span>
                </li>
              ))}
            </ul>
          )}
        </Part>
      </div>
    </>
  );
}

function Part({ title, children }: { title: string; children: React.ReactNode }) {
  return (
    <section className="grid gap-3">
      <h2 className="font-medium">{title}</h2>
      {children}
    </section>
  );
}

function Limit({ limit, workspace, canAsk }: { limit: MyLimit; workspace: string; canAsk: boolean }) {
  const { id, name, kind, period, left, limit: amount, used, blocks } = limit;
  const isBudget = kind === "budget";
  const digits = exactText(left);
  const isOver = digits.startsWith("-");
  return (
    <li className="grid gap-2 rounded-lg border bg-card p-4 text-sm">
      <p className="flex flex-wrap items-baseline justify-between gap-x-4 gap-y-1">
        <span className="flex flex-wrap items-center gap-x-2 gap-y-1">
          <Link
            href={isBudget ? `/${workspace}/budgets#budget-${id}` : `/${workspace}/keys`}
            prefetch={false}
            className={`${linkClass} font-medium`}
          >
            {isBudget ? name : `The key ${name}`}
          </Link>
          <Badge variant={blocks && used >= 1 ? "destructive" : "outline"}>
            {blocks ? "Refuses to record" : "Warns only"}
          </Badge>
        </span>
        <span className="tabular-nums">
          <Money usd={isOver ? digits.slice(1) : left} className={isOver ? "text-destructive" : ""} />{" "}
          {isOver ? "over" : "left of"} <Money usd={amount} /> {presentPeriod[period]}, {formatPercent(used)}{" "}
          used
        </span>
      </p>
      <Meter fraction={used} label={`${name}, used`} />
      {canAsk ? (
        <Link
          href={`/${workspace}/budgets/requests?${kind}=${id}`}
          prefetch={false}
          className="w-fit rounded-sm text-xs underline decoration-border underline-offset-4"
        >
          Ask for more
        </Link>
      ) : null}
    </li>
  );
}
