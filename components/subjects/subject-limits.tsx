import type { z } from "zod";
import { budgetRowsHref } from "@/components/budgets/budget-rows-href";
import { formatPeriod } from "@/components/budgets/budget-view";
import { type Amount, exactText, toNumber } from "@/components/figures/amount";
import { formatDay } from "@/components/figures/format-date";
import { formatPercent } from "@/components/figures/format-percent";
import { Money } from "@/components/figures/money";
import { activityHref } from "@/components/filters/href";
import { Link } from "@/components/ui/link";
import { Meter } from "@/components/ui/meter";
import type { budget as budgetSchema } from "@/lib/contract/spend/budgets";
import type { Subject } from "@/lib/contract/spend/subjects";
import { subjectNames } from "./subject-names";

type Budget = z.output<typeof budgetSchema>;

/** What a key may spend in a UTC month, and has spent in the current one, in USD. `limit` is null for no limit. */
export type KeyLimit = { limit: Amount | null; spent: Amount };

/** The budgets for exactly one subject, and the limit of a key. States: some, and none with a link to create one. */
export function SubjectLimits({
  workspace,
  subject: { dimension, value },
  budgets,
  limit,
}: {
  workspace: string;
  subject: Subject;
  budgets: Budget[];
  limit: KeyLimit | undefined;
}) {
  const rows = budgets.map((budget) => ({
    id: budget.id,
    name: budget.name,
    note: `${formatPeriod(budget)} · ${budget.blocks ? "Refuses to record beyond it" : "Warns"}${
      budget.runs_out_on ? ` · Used up on ${formatDay(budget.runs_out_on)} at this pace` : ""
    }`,
    href: `/${workspace}/budgets#budget-${budget.id}`,
    rowsHref: budgetRowsHref(workspace, budget),
    spent: budget.spent as Amount,
    limit: budget.amount as Amount,
    used: budget.percent_used as Amount,
  }));
  if (limit?.limit != null)
    rows.push({
      id: "key",
      name: "Limit of the key",
      note: "Monthly, of UTC months · Refuses calls beyond it",
      href: `/${workspace}/keys`,
      rowsHref: activityHref(workspace, { period: "month", key: value }),
      spent: limit.spent,
      limit: limit.limit,
      used: toNumber(limit.limit) > 0 ? String(toNumber(limit.spent) / toNumber(limit.limit)) : "1",
    });
  return (
    <section aria-labelledby="limits">
      <h2 id="limits" className="pb-2 font-medium text-sm">
        {dimension === "key" ? "Budgets and limits" : "Budgets"}
      </h2>
      {rows.length === 0 ? (
        <p className="text-muted-foreground text-sm">
          No budget is for just this {subjectNames[dimension].noun}.{" "}
          <Link href={`/${workspace}/budgets`} className="rounded-sm underline underline-offset-4">
            Budgets
          </Link>
        </p>
      ) : (
        <ul>
          {rows.map(({ id, name, note, href, rowsHref, spent, limit: most, used }) => (
            <li key={id} className="flex flex-wrap items-center gap-x-4 gap-y-1 border-t py-2 text-sm">
              <span className="min-w-40 flex-1">
                <Link
                  href={href}
                  prefetch={false}
                  dir="auto"
                  className="block truncate rounded-sm text-left hover:underline"
                >
                  {name}
                </Link>
                <span className="block text-muted-foreground text-xs">{note}</span>
              </span>
              <span className="tabular-nums">
                <Link href={rowsHref} prefetch={false} className="rounded-sm hover:underline">
                  <Money usd={spent} />
                </Link>{" "}
                <span className="text-muted-foreground">
                  of <Money usd={most} />
                </span>
              </span>
              <span className="grid w-20 gap-1 text-right tabular-nums" data-exact={exactText(used)}>
                {formatPercent(used)}
                <Meter fraction={toNumber(used)} label={`${name}, used`} />
              </span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
