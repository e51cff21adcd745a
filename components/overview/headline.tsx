import { formatUsd } from "@/components/money";

const monthName = (day: string) =>
  new Intl.DateTimeFormat("en-US", { month: "long", timeZone: "UTC" }).format(new Date(`${day}T00:00:00Z`));

function ordinal(day: number): string {
  const suffix = { one: "st", two: "nd", few: "rd", other: "th" } as Record<string, string>;
  return `${day}${suffix[new Intl.PluralRules("en-US", { type: "ordinal" }).select(day)] ?? "th"}`;
}

/** A fraction as a whole percentage, rounded down where up would reach a hundred that is not there yet. */
export function formatPercent(fraction: string): string {
  const percent = Number(fraction) * 100;
  const whole = percent < 100 ? Math.min(Math.round(percent), 99) : Math.round(percent);
  return `${whole} %`;
}

export type HeadlineProps = {
  total: string;
  month: string;
  lastMonth: string;
  monthEnds: string;
  change: string | null;
  pace: string | null;
  /** The amount of the budget over everything, where there is one. */
  budget?: string | undefined;
};

/** The answer before any figure is explained: how much, compared with what, and where it leads. */
export function Headline({ total, month, lastMonth, monthEnds, change, pace, budget }: HeadlineProps) {
  const compared = change === null ? null : compare(change, monthName(lastMonth));
  const ofBudget =
    pace !== null && budget !== undefined
      ? `, ${formatPercent(String(Number(pace) / Number(budget)))} of the budget`
      : "";
  return (
    <p className="max-w-[60ch] text-balance text-lg leading-snug sm:text-xl">
      <strong className="font-semibold tabular-nums" title={`$${total}`}>
        {formatUsd(total)}
      </strong>{" "}
      so far in {monthName(month)}
      {compared ? <span className="text-muted-foreground">, {compared}</span> : null}
      {pace === null ? (
        "."
      ) : (
        <span className="text-muted-foreground">
          ; at this pace <span className="tabular-nums">{formatUsd(pace)}</span> by the{" "}
          {ordinal(Number(monthEnds.slice(8)))}
          {ofBudget}.
        </span>
      )}
    </p>
  );
}

function compare(change: string, lastMonth: string): string {
  const percent = Math.round(Math.abs(Number(change)) * 100);
  if (percent === 0) return `as much as at this point of ${lastMonth}`;
  // Ten times as much is not "900 % more" to anybody.
  if (Number(change) >= 2)
    return `${(Number(change) + 1).toFixed(1)} times what it was at this point of ${lastMonth}`;
  return `${percent} % ${Number(change) > 0 ? "more" : "less"} than at this point of ${lastMonth}`;
}
