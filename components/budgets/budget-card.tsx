import { CircleAlert, TriangleAlert } from "lucide-react";
import Link from "next/link";
import type { ReactNode } from "react";
import type { z } from "zod";
import { exactText } from "@/components/amount";
import { activityHref } from "@/components/filters/href";
import { formatPercent, isAll } from "@/components/format-percent";
import { Money } from "@/components/money";
import { Badge } from "@/components/ui/badge";
import { Card } from "@/components/ui/card";
import { Meter } from "@/components/ui/meter";
import type { budget as budgetSchema } from "@/lib/contract/budgets";
import { describeScope } from "./budget-view";

type Budget = z.output<typeof budgetSchema>;

const dayName = new Intl.DateTimeFormat("en-US", { day: "numeric", month: "short", timeZone: "UTC" });

/** A budget: what it is of, how much of it is spent, and where it is heading. Its figure leads to the rows behind it. */
export function BudgetCard({
  budget,
  workspace,
  actions,
}: {
  budget: Budget;
  workspace: string;
  actions: ReactNode;
}) {
  const { name, scope, amount, spent, percent_used: used } = budget;
  const description = describeScope(scope);
  return (
    <Card aria-label={name} className="grid content-start gap-4 p-4">
      <header className="flex items-start justify-between gap-3">
        <div className="min-w-0">
          <h2 className="flex flex-wrap items-center gap-x-2 gap-y-1 font-medium">
            <span className="[overflow-wrap:anywhere]">{name}</span>
            <State budget={budget} />
          </h2>
          <p className="text-muted-foreground text-xs [overflow-wrap:anywhere]">{description}</p>
        </div>
        {actions}
      </header>
      <div className="grid gap-2">
        <p className="flex flex-wrap items-baseline justify-between gap-x-3">
          <span>
            <Link
              href={rowsHref(workspace, scope)}
              prefetch={false}
              className="rounded-sm font-medium text-xl tracking-tight underline-offset-4 hover:underline"
            >
              <Money usd={spent} figure="spent" />
            </Link>{" "}
            <span className="text-muted-foreground text-sm">
              of <Money usd={amount} figure="amount" />
            </span>
          </span>
          <span className="text-sm tabular-nums" data-figure="percent_used" data-exact={exactText(used)}>
            {formatPercent(used)}
          </span>
        </p>
        <Meter fraction={Number(exactText(used))} label={`${name}, used`} />
      </div>
      <div className="grid gap-0.5 text-sm">
        <Remaining budget={budget} />
        <p className="text-muted-foreground">
          <Outlook budget={budget} />
        </p>
      </div>
    </Card>
  );
}

const isUsedUp = ({ percent_used: used }: Budget) => isAll(used);

/** What the colour of the meter says, in words. */
function State({ budget }: { budget: Budget }) {
  if (isUsedUp(budget)) {
    return (
      <Badge variant="destructive">
        <CircleAlert aria-hidden="true" className="size-3" />
        Used up
      </Badge>
    );
  }
  if (!budget.alert) return null;
  return (
    <Badge variant="warning">
      <TriangleAlert aria-hidden="true" className="size-3" />
      Close to the limit
    </Badge>
  );
}

function Remaining({ budget: { remaining } }: { budget: Budget }) {
  const digits = exactText(remaining);
  if (!digits.startsWith("-")) {
    return (
      <p>
        <Money usd={remaining} figure="remaining" /> left this month
      </p>
    );
  }
  return (
    <p className="text-destructive" data-figure="remaining" data-exact={digits}>
      <Money usd={digits.slice(1)} /> over
    </p>
  );
}

/** Where it is heading. */
function Outlook({ budget }: { budget: Budget }) {
  const { forecast, runs_out_on: day, spent } = budget;
  if (forecast === null) {
    return Number(exactText(spent)) === 0
      ? "Nothing is spent yet."
      : "It is too early in the month to say where it is heading.";
  }
  const month = <Money usd={forecast} figure="forecast" />;
  if (isUsedUp(budget)) return <>At this pace the month comes to {month}.</>;
  if (day === null) return <>At this pace the month comes to {month}, and it lasts.</>;
  return (
    <>
      At this pace it is used up on{" "}
      <strong className="font-medium text-foreground">{dayName.format(new Date(day))}</strong>; the month
      comes to {month}.
    </>
  );
}

/** The rows of a budget's scope: live messages of this month. */
function rowsHref(workspace: string, { type, value }: Budget["scope"]): string {
  const filter = type === "global" ? {} : { [type]: value };
  return activityHref(workspace, { period: "month", environment: "live", ...filter });
}
