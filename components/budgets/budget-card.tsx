import type { ComponentProps, ReactNode } from "react";
import type { z } from "zod";
import { exactText, toNumber } from "@/components/figures/amount";
import { formatDay } from "@/components/figures/format-date";
import { formatPercent } from "@/components/figures/format-percent";
import { formatAmount, Money } from "@/components/figures/money";
import { addDays } from "@/components/figures/utc-day";
import { ForecastFigure, formatForecastRange } from "@/components/spend/forecast-figure";
import { cn } from "@/components/ui/cn";
import { Link } from "@/components/ui/link";
import { Meter } from "@/components/ui/meter";
import type { budget as budgetSchema } from "@/lib/contract/spend/budgets";
import { isUsedUp, StateBadge } from "./budget-badge";
import { budgetRowsHref } from "./budget-rows-href";
import { formatPeriod, formatScope, formatWarned, periodNames, presentPeriod } from "./budget-view";
import { type Reached, Thresholds, thresholdsOf } from "./thresholds";

type Budget = z.output<typeof budgetSchema>;

/** A budget: what it covers, how much is spent, and its forecast. The spent amount links to its rows. */
export function BudgetCard({
  budget,
  workspace,
  reached,
  actions,
  limits,
  canAsk = false,
}: {
  budget: Budget;
  workspace: string;
  /** The thresholds that were reached in the present period. */
  reached: Reached[];
  actions: ReactNode;
  /** Its limits at providers. */
  limits?: ReactNode;
  /** Whether the reader may request a raise of the budget. */
  canAsk?: boolean;
}) {
  const thresholds = thresholdsOf(budget);
  const { name, scope, amount, spent, percent_used: used } = budget;
  return (
    <Card
      // Alerts link here.
      id={`budget-${budget.id}`}
      aria-label={name}
      className="grid content-start gap-4 p-4 target:ring-2 target:ring-ring"
    >
      <header className="flex items-start justify-between gap-3">
        <div className="min-w-0">
          <h2 className="flex flex-wrap items-center gap-x-2 gap-y-1 font-medium">
            <span className="[overflow-wrap:anywhere]">{name}</span>
            <StateBadge budget={budget} />
          </h2>
          <p className="text-muted-foreground text-xs [overflow-wrap:anywhere]">
            {formatScope(scope)} · {formatPeriod(budget)} ·{" "}
            {budget.blocks ? "Refuses to record" : "Warns only"}
          </p>
          <WarnedLine warns={budget.warns} />
          {budget.owner ? (
            <p className="text-muted-foreground text-xs [overflow-wrap:anywhere]">
              Owned by {budget.owner.name}
            </p>
          ) : null}
        </div>
        {actions}
      </header>
      <div className="grid gap-2">
        <p className="flex flex-wrap items-baseline justify-between gap-x-3">
          <span>
            <Link
              href={budgetRowsHref(workspace, budget)}
              prefetch={false}
              className="rounded-sm font-medium text-xl tracking-tight underline-offset-4 hover:underline"
            >
              <Money usd={spent} figure="spent" />
            </Link>{" "}
            <span className="text-muted-foreground text-sm">
              of <Money usd={amount} figure="amount" />
              {budget.currency === "USD" ? null : ` (${formatAmount(limitOf(budget), budget.currency)})`}
            </span>
          </span>
          <span className="text-sm tabular-nums" data-figure="percent_used" data-exact={exactText(used)}>
            {formatPercent(used)}
          </span>
        </p>
        <Meter
          fraction={toNumber(used)}
          label={`${name}, used`}
          marks={thresholds.map(({ fraction }) => fraction)}
        />
        <Thresholds thresholds={thresholds} reached={reached} />
        <PeriodLine budget={budget} />
      </div>
      <div className="grid gap-0.5 text-sm">
        <Remaining budget={budget} />
        <Held budget={budget} />
        <Blocked budget={budget} />
        <Refused budget={budget} />
        <p className="text-muted-foreground">
          <Forecast budget={budget} />
        </p>
        {canAsk ? (
          <Link
            href={`/${workspace}/budgets/requests?budget=${budget.id}`}
            prefetch={false}
            className="w-fit rounded-sm pt-1 underline decoration-border underline-offset-4"
          >
            Ask for more
          </Link>
        ) : null}
      </div>
      {limits}
    </Card>
  );
}

/** The people and channels that a budget warns, if it names any, and a note if none of them can be reached. */
function WarnedLine({ warns }: { warns: Budget["warns"] }) {
  const names = formatWarned(warns);
  return (
    <>
      {names ? <p className="text-muted-foreground text-xs [overflow-wrap:anywhere]">{names}</p> : null}
      {warns.falls_back ? (
        <p className="text-warning text-xs">
          Everyone it was to warn has left or is turned off. It warns every channel whose rules want it, until
          you choose others.
        </p>
      ) : null}
    </>
  );
}

/** The present limit in the budget's currency. */
const limitOf = ({ raise, usual_amount: usual }: Budget) => raise?.amount ?? usual;

/** The days of the present period, and a raise or an end if there is one. */
function PeriodLine({ budget }: { budget: Budget }) {
  const { period_from: from, period_until: until, raise, ends_on: end } = budget;
  const last = addDays(until, -1);
  return (
    <p className="text-muted-foreground text-xs">
      {from === last ? formatDay(from) : `${formatDay(from)} – ${formatDay(last)}`}
      {raise ? (
        <>
          {" "}
          · raised until {formatDay(raise.until)}, then {formatAmount(budget.usual_amount, budget.currency)}
        </>
      ) : null}
      {end !== null && budget.period !== "once" ? ` · ends on ${formatDay(end)}` : null}
    </p>
  );
}

function Remaining({ budget: { remaining, period } }: { budget: Budget }) {
  const digits = exactText(remaining);
  if (!digits.startsWith("-")) {
    return (
      <p>
        <Money usd={remaining} figure="remaining" /> left {presentPeriod[period]}
      </p>
    );
  }
  return (
    <p className="text-destructive" data-figure="remaining" data-exact={digits}>
      <Money usd={digits.slice(1)} /> over
    </p>
  );
}

/** Says that a used-up blocking budget refuses costs now, and until when. */
function Blocked({ budget }: { budget: Budget }) {
  if (!budget.blocks || !isUsedUp(budget)) return null;
  return (
    <p className="text-destructive">
      It refuses to record costs until {formatDay(budget.period_until)}, or until you raise it. By then, the
      call to the model has happened.
    </p>
  );
}

/** What reservations hold of it. A budget that blocks does not let other calls spend it. */
function Held({ budget: { held_usd: held, blocks } }: { budget: Budget }) {
  if (toNumber(held) === 0) return null;
  return (
    <p>
      <Money usd={held} figure="held_usd" /> held for calls that are being made
      {blocks ? "; others cannot spend it" : null}
    </p>
  );
}

/** What limits refused of what the budget counts. */
function Refused({ budget: { refused_usd: refused } }: { budget: Budget }) {
  if (toNumber(refused) === 0) return null;
  return (
    <p>
      <Money usd={refused} figure="refused_usd" /> refused by limits; it may have been spent
    </p>
  );
}

/** The forecast of the period in a sentence. */
function Forecast({ budget }: { budget: Budget }) {
  const { forecast, forecast_details: details, runs_out_on: day, spent, period } = budget;
  const whole = periodNames[period];
  if (forecast === null) {
    return toNumber(spent) === 0
      ? "Nothing spent yet."
      : "A forecast needs three days of usage before today.";
  }
  const total = <ForecastFigure usd={forecast} details={details} figure="forecast" />;
  const range = details && toNumber(details.low_usd) !== toNumber(details.high_usd) && (
    <> ({formatForecastRange(details)})</>
  );
  if (isUsedUp(budget) || day === null) {
    return (
      <>
        Expected by the end of the {whole}: {total}
        {range}
        {isUsedUp(budget) ? "." : ", within the budget."}
      </>
    );
  }
  return (
    <>
      Expected to be used up on <strong className="font-medium text-foreground">{formatDay(day)}</strong>, and
      to come to {total}
      {range} by the end of the {whole}.
    </>
  );
}

/** A section of a page with a border. */
function Card({ className, ...props }: ComponentProps<"section">) {
  return (
    <section className={cn("min-w-0 rounded-lg border bg-card text-card-foreground", className)} {...props} />
  );
}
