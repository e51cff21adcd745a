import { formatCount } from "@/components/figures/format-count";
import { formatDate, formatDays } from "@/components/figures/format-date";
import { formatExactPercent } from "@/components/figures/format-percent";
import { Money } from "@/components/figures/money";
import { Time } from "@/components/figures/time";
import { addDays } from "@/components/figures/utc-day";
import type { FiredAlert } from "@/lib/contract/alerts/alerts";

/** The figures of an alert in one or two lines: why it fired. */
export function AlertFigures({ alert }: { alert: Pick<FiredAlert, "figures" | "period" | "summary"> }) {
  const { figures, period, summary } = alert;
  const during = period ? (
    <span className="text-muted-foreground">({formatDays(period.from, addDays(period.until, -1))})</span>
  ) : null;
  switch (figures.rule) {
    case "budget_threshold":
      return (
        <p className="text-sm">
          <Money usd={figures.spent_usd} figure="spent_usd" /> of{" "}
          <Money usd={figures.amount_usd} figure="amount_usd" /> {during}
        </p>
      );
    case "budget_forecast":
      return (
        <Lines note={figures.method}>
          Forecast <Money usd={figures.forecast_usd} figure="forecast_usd" /> of{" "}
          <Money usd={figures.amount_usd} figure="amount_usd" />,{" "}
          <Money usd={figures.spent_usd} figure="spent_usd" /> spent {during}
        </Lines>
      );
    case "budget_pace":
      return (
        <p className="text-sm">
          <Money usd={figures.spent_usd} figure="spent_usd" /> so far {during}, against{" "}
          <Money usd={figures.before_usd} figure="before_usd" /> at the same point of the last period
        </p>
      );
    case "unusual_day":
      return (
        <Lines
          note={
            <>
              The same weekdays before:{" "}
              {figures.compared.map(({ day, spent_usd: usd }, index) => (
                <span key={day}>
                  {index > 0 ? ", " : null}
                  <span className="whitespace-nowrap">
                    <Money usd={usd} figure="compared_usd" /> on {formatDate(day)}
                  </span>
                </span>
              ))}
            </>
          }
        >
          <Money usd={figures.spent_usd} figure="spent_usd" />, against a median of{" "}
          <Money usd={figures.median_usd} figure="median_usd" />
        </Lines>
      );
    case "key_limit":
      return (
        <p className="text-sm">
          <Money usd={figures.spent_usd} figure="spent_usd" />{" "}
          {figures.amount_usd === null ? (
            "spent, without a limit"
          ) : (
            <>
              of <Money usd={figures.amount_usd} figure="amount_usd" />
            </>
          )}{" "}
          {during}
        </p>
      );
    case "refused_costs":
      return (
        <p className="text-sm">
          <Money usd={figures.refused_usd} figure="refused_usd" /> refused in{" "}
          {formatCount(figures.message_count, "message")} {during}
        </p>
      );
    case "silent_source":
      return (
        <p className="text-sm">
          Last seen <Time at={figures.last_at} />
        </p>
      );
    case "bill_coverage":
      return (
        <p className="text-sm">
          {formatExactPercent(figures.percent)} of the{" "}
          <Money usd={figures.billed_usd} figure="billed_usd" inUsd /> that providers billed {during} is
          recorded
        </p>
      );
    case "bill_difference":
      return (
        <p className="text-sm">
          <Money usd={figures.billed_usd} figure="billed_usd" inUsd /> was billed {during},{" "}
          <Money usd={figures.recorded_usd} figure="recorded_usd" inUsd /> of the billed days is recorded
        </p>
      );
    case "provider_limit":
    case "key_expiry":
    case "unpriced_usage":
      return <p className="text-sm">{summary}</p>;
  }
}

function Lines({ children, note }: { children: React.ReactNode; note: React.ReactNode }) {
  return (
    <div className="grid gap-0.5">
      <p className="text-sm">{children}</p>
      <p className="text-[13px] text-muted-foreground">{note}</p>
    </div>
  );
}
