import { ArrowDown, ArrowUp } from "lucide-react";
import { cn } from "@/components/ui/cn";
import { formatTimes, formatWholePercent, isManyTimes } from "./format-percent";

/** The growth of an amount as a fraction: 0.12 for 12% more. Null when the earlier amount was zero. */
export function growthOf(now: number, before: number): number | null {
  return before > 0 ? now / before - 1 : null;
}

/** A change in whole percent, without its sign. Only a decrease to zero is 100: a change of -0.997 is 99. */
export function wholePercent(change: number): number {
  const percent = Math.round(Math.abs(change) * 100);
  return change > -1 && change < 0 ? Math.min(percent, 99) : percent;
}

/**
 * The size of a change: "12%", "< 1%" where it would round to zero, or from ten times as much on, the factor: "76×".
 * @param change 0.12 for 12% more
 */
export function formatGrowth(change: number): string {
  if (change > 0 && isManyTimes(change)) return formatTimes(change + 1);
  const percent = wholePercent(change);
  return change !== 0 && percent === 0 ? `< ${formatWholePercent(1)}` : formatWholePercent(percent);
}

/**
 * A change in percent, with an arrow. It has no colour, because an increase in spend is not bad as such. Ten times as much
 * and more is shown as a factor.
 * @param props.fraction 0.12 for 12% more; null when there is nothing to compare with, which shows "new"
 */
export function Delta({ fraction, className }: { fraction: number | null; className?: string }) {
  if (fraction === null) return <span className={cn("text-muted-foreground", className)}>new</span>;
  if (wholePercent(fraction) === 0)
    return <span className={cn("text-muted-foreground", className)}>unchanged</span>;
  const Icon = fraction > 0 ? ArrowUp : ArrowDown;
  return (
    <span className={cn("whitespace-nowrap text-muted-foreground tabular-nums", className)}>
      <Icon aria-hidden="true" className="mr-0.5 inline size-3 align-[-0.125em]" />
      <span className="sr-only">{fraction > 0 ? "up " : "down "}</span>
      {formatGrowth(fraction)}
    </span>
  );
}
