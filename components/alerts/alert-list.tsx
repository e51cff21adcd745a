import { CircleAlert, Info, TriangleAlert } from "lucide-react";
import Link from "next/link";
import { exactText, toNumber } from "@/components/amount";
import { activityHref } from "@/components/filters/href";
import { formatDate } from "@/components/format-date";
import { Money } from "@/components/money";
import { Time } from "@/components/time";
import { addDays, dayMs } from "@/components/utc-day";
import type { FiredAlert } from "@/lib/contract/alerts";
import { DeliveryOutcome } from "./delivery-outcome";

type Props = { workspace: string; canEdit: boolean };

/** What fired: the threshold, the figures at that time, whom it was sent to, and links to the budget and its rows. */
export function AlertList({ alerts, ...props }: Props & { alerts: FiredAlert[] }) {
  return (
    <ul aria-label="What fired" className="grid">
      {alerts.map((alert) => (
        <li key={alert.id} className="border-t py-3.5 first:border-t-0 first:pt-0">
          <Item alert={alert} {...props} />
        </li>
      ))}
    </ul>
  );
}

function Item({ alert, workspace, canEdit }: Props & { alert: FiredAlert }) {
  const { budget, percent, amount_usd: amount, spent_usd: spent, period, fired_at: at } = alert;
  const isUsedUp = toNumber(percent) >= 100;
  return (
    <article className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-2.5">
      <Mark percent={toNumber(percent)} />
      <div className="grid gap-1.5">
        <header className="flex flex-wrap items-baseline justify-between gap-x-4 gap-y-0.5">
          <h2 className="font-medium [overflow-wrap:anywhere]">
            {isUsedUp && toNumber(percent) === 100
              ? `${budget.name} is used up`
              : `${exactText(percent)} % of ${budget.name} is spent`}
          </h2>
          <Time at={at} className="whitespace-nowrap text-muted-foreground text-xs" />
        </header>
        <p className="text-sm">
          <Money usd={spent} figure="spent_usd" /> of <Money usd={amount} figure="amount_usd" />{" "}
          <span className="text-muted-foreground">
            from {formatDate(period.from)} to {formatDate(addDays(period.until, -1))}
          </span>
        </p>
        <Told alert={alert} workspace={workspace} canEdit={canEdit} />
        <p className="flex flex-wrap gap-x-4 gap-y-1 text-[13px]">
          <Link
            href={`/${workspace}/budgets#budget-${budget.id}`}
            prefetch={false}
            className="rounded-sm text-muted-foreground underline-offset-4 hover:text-foreground hover:underline"
          >
            Open the budget
          </Link>
          <Link
            href={rowsHref(workspace, alert)}
            prefetch={false}
            className="rounded-sm text-muted-foreground underline-offset-4 hover:text-foreground hover:underline"
          >
            Show what was spent
          </Link>
        </p>
      </div>
    </article>
  );
}

/** A mark whose shape, and not only its colour, says how serious the threshold is. */
function Mark({ percent }: { percent: number }) {
  if (percent >= 100) return <CircleAlert aria-hidden="true" className="mt-0.5 size-4 text-destructive" />;
  if (percent >= 80) return <TriangleAlert aria-hidden="true" className="mt-0.5 size-4 text-warning" />;
  return <Info aria-hidden="true" className="mt-0.5 size-4 text-muted-foreground" />;
}

const logDays = 30;

/** Whom the alert was sent to, or why nobody was told. */
function Told({ alert, workspace, canEdit }: Props & { alert: FiredAlert }) {
  const { deliveries, is_quiet: isQuiet, fired_at: at } = alert;
  if (deliveries.length > 0) {
    return (
      <ul aria-label="Sent to" className="grid gap-1 text-[13px]">
        {deliveries.map((delivery) => (
          <li key={delivery.id}>
            <DeliveryOutcome
              delivery={delivery}
              label={delivery.channel.name}
              resendPath={
                canEdit ? `/api/v1/workspaces/${workspace}/alert-deliveries/${delivery.id}/resend` : undefined
              }
            />
          </li>
        ))}
      </ul>
    );
  }
  const reason = isQuiet
    ? "Nobody was told: the budget was above this when it was set."
    : Date.now() - Date.parse(at) > logDays * dayMs
      ? `Whom it was sent to is kept for ${logDays} days.`
      : "Nobody was told: no channel wanted it.";
  return <p className="text-[13px] text-muted-foreground">{reason}</p>;
}

/** The rows that the budget counted in its period. */
function rowsHref(workspace: string, { budget, period }: FiredAlert): string {
  const { scope_type: type, scope_value: value } = budget;
  const filters = ["project", "feature", "provider", "model", "key", "user", "tag"];
  return activityHref(workspace, {
    period: "range",
    from: period.from,
    to: addDays(period.until, -1),
    environment: "live",
    ...(value !== null && filters.includes(type) && { [type]: value }),
  });
}
