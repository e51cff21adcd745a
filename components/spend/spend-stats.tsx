import type { ReactNode } from "react";
import { toNumber } from "@/components/figures/amount";
import { capitalize } from "@/components/figures/capitalize";
import { Count } from "@/components/figures/count";
import { Delta, growthOf } from "@/components/figures/delta";
import { formatCount, plural } from "@/components/figures/format-count";
import { formatDay, formatMonthAndYear } from "@/components/figures/format-date";
import { formatMoney, Money, shownNumber } from "@/components/figures/money";
import { activityHref } from "@/components/filters/href";
import { Link } from "@/components/ui/link";
import {
  explainForecast,
  ForecastFigure,
  ForecastRange,
  formatForecastRange,
  hasRange,
} from "./forecast-figure";
import { periodLabels } from "./period-labels";
import type { SpendView } from "./spend-view";

/**
 * The figures of a period: spend, previous period, forecast, messages and unpriced lines. Each links to its rows.
 * @param props.isBelowHeadline whether a sentence above says what was spent and what is expected, which are then left out
 */
export function SpendStats({
  view,
  isBelowHeadline = false,
}: {
  view: SpendView;
  isBelowHeadline?: boolean;
}) {
  const { metrics, workspace, filter } = view;
  const { totals, refused, previous, booked_ahead: ahead, forecast_usd: forecast, to } = metrics;
  const labels = periodLabels(metrics, view.today);
  const rows = activityHref(workspace, filter);
  const growth = previous && growthOf(shownNumber(totals.total_usd), shownNumber(previous.to_point_usd));
  const toPoint =
    previous && labels.previousPoint ? (
      <>
        <Money usd={previous.to_point_usd} figure="previous.to_point_usd" /> {labels.previousPoint}
      </>
    ) : null;
  return (
    <StatList>
      {isBelowHeadline ? null : (
        <Stat
          label={`Spent ${labels.soFar}`}
          href={rows}
          note={
            toPoint && (
              <>
                {typeof growth === "number" ? (
                  <>
                    <Delta fraction={growth} /> from{" "}
                  </>
                ) : (
                  "against "
                )}
                {toPoint}
              </>
            )
          }
        >
          <Money usd={totals.total_usd} figure="totals.total_usd" />
        </Stat>
      )}
      {previous && labels.previous ? (
        <Stat
          label={`${capitalize(labels.previous)} in total`}
          href={activityHref(workspace, { ...filter, period: "range", from: previous.from, to: previous.to })}
          note={isBelowHeadline ? toPoint : <PreviousMessages count={previous.totals.message_count} />}
        >
          <Money usd={previous.totals.total_usd} figure="previous.totals.total_usd" />
        </Stat>
      ) : null}
      {ahead ? (
        <Stat
          label={`Booked ahead until ${formatMonthAndYear(ahead.to)}`}
          href={activityHref(workspace, { ...filter, period: "range", from: ahead.from, to: ahead.to })}
          note="Not counted as spend"
        >
          <Money usd={ahead.total_usd} figure="booked_ahead.total_usd" />
        </Stat>
      ) : null}
      {forecast && to && !isBelowHeadline ? (
        <Stat label={`Forecast to ${formatDay(to)}`} note={<ForecastRange details={metrics.forecast} />}>
          <ForecastFigure usd={forecast} details={metrics.forecast} figure="forecast_usd" />
        </Stat>
      ) : null}
      {isBelowHeadline && metrics.forecast && to && hasRange(metrics.forecast) ? (
        <Stat label={`Range of the forecast to ${formatDay(to)}`}>
          <span title={explainForecast(metrics.forecast)}>{formatForecastRange(metrics.forecast)}</span>
        </Stat>
      ) : null}
      <Stat
        label="Messages"
        href={rows}
        note={
          <>
            <Kinds totals={totals} />{" "}
            <NoteLink href={activityHref(workspace, { ...filter, sort: "-amount" })}>Most expensive</NoteLink>
          </>
        }
      >
        <Count value={totals.message_count} compact figure="totals.message_count" />
      </Stat>
      {toNumber(totals.included_usd) > 0 ? (
        <Stat
          label="Covered by subscriptions"
          href={activityHref(workspace, { ...filter, cost_status: "included" })}
          note="What it would have cost. Not counted as spend."
        >
          <Money usd={totals.included_usd} figure="totals.included_usd" />
        </Stat>
      ) : null}
      {refused && toNumber(refused.total_usd) > 0 ? (
        <Stat
          label="Refused by limits"
          note={`${formatCount(refused.message_count, "message")}. Not counted; it may have been spent.`}
        >
          <Money usd={refused.total_usd} figure="refused.total_usd" />
        </Stat>
      ) : null}
      {totals.unpriced_count > 0 ? (
        <Stat
          label="Without a price"
          href={activityHref(workspace, { ...filter, cost_status: "unpriced" })}
          note={
            <>
              They count as zero until a price is set.{" "}
              <NoteLink href={`/${workspace}/settings/prices`}>Set prices</NoteLink>
            </>
          }
        >
          <Count value={totals.unpriced_count} compact figure="totals.unpriced_count" />
        </Stat>
      ) : null}
    </StatList>
  );
}

function NoteLink({ href, children }: { href: string; children: string }) {
  return (
    <Link
      href={href}
      prefetch={false}
      className="block w-fit rounded-sm underline underline-offset-4 hover:text-foreground"
    >
      {children}
    </Link>
  );
}

function PreviousMessages({ count }: { count: number }) {
  return (
    <>
      <Count value={count} compact figure="previous.totals.message_count" /> {plural(count, "message")}
    </>
  );
}

/** The spend by kind of cost: "$1,200.00 usage, $45.00 subscriptions". Kinds without spend are left out. */
function Kinds({ totals }: { totals: SpendView["metrics"]["totals"] }) {
  const kinds = [
    [totals.usage_usd, "usage"],
    [totals.subscription_usd, "subscriptions"],
    [totals.expense_usd, "expenses"],
    [totals.adjustment_usd, "bill adjustments"],
  ] as const;
  const named = kinds.filter(([usd]) => toNumber(usd) !== 0);
  if (named.length === 0) return null;
  return named.map(([usd, name]) => `${formatMoney(usd)} ${name}`).join(", ");
}

/** A list of figures, side by side. A phone shows two in a row, or one where two figures are too long for a row. */
function StatList({ children }: { children: ReactNode }) {
  return <dl className="flex flex-wrap gap-x-6 gap-y-5 border-y py-4">{children}</dl>;
}

/** A figure with its label and a note. With `href`, it links to the rows behind it. */
function Stat({
  label,
  href,
  note,
  children,
}: {
  label: string;
  href?: string;
  note?: ReactNode;
  children: ReactNode;
}) {
  return (
    // Never narrower than its figure, which has no place to break.
    <div className="grid flex-[1_1_calc(50%-0.75rem)] content-start gap-0.5 lg:flex-[1_1_0]">
      <dt className="text-muted-foreground text-xs">{label}</dt>
      <dd className="font-medium text-lg tabular-nums tracking-tight">
        {href ? (
          <Link href={href} className="rounded-sm hover:underline" prefetch={false}>
            {children}
          </Link>
        ) : (
          children
        )}
      </dd>
      {note ? <dd className="text-muted-foreground text-xs">{note}</dd> : null}
    </div>
  );
}
