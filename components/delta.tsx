import { ArrowDown, ArrowUp } from "lucide-react";
import { cn } from "@/components/cn";

/** How much a change is in whole percent, without its sign. Less by a hundred is nothing left: -0.997 is 99. */
export function wholePercent(change: number): number {
  const percent = Math.round(Math.abs(change) * 100);
  return change > -1 && change < 0 ? Math.min(percent, 99) : percent;
}

/**
 * By how much something has grown or shrunk, in percent. Without a colour: whether more spend is bad, only the budget knows.
 * @param fraction 0.12 for 12 % more; null where there was nothing to compare with
 */
export function Delta({ fraction, className }: { fraction: number | null; className?: string }) {
  if (fraction === null) return <span className={cn("text-muted-foreground", className)}>new</span>;
  const percent = wholePercent(fraction);
  if (percent === 0) return <span className={cn("text-muted-foreground", className)}>unchanged</span>;
  const Icon = fraction > 0 ? ArrowUp : ArrowDown;
  return (
    <span className={cn("whitespace-nowrap text-muted-foreground tabular-nums", className)}>
      <Icon aria-hidden="true" className="mr-0.5 inline size-3 align-[-0.125em]" />
      <span className="sr-only">{fraction > 0 ? "up " : "down "}</span>
      {/* Ten times as much is not "900 % more" to anybody. */}
      {fraction >= 9.995 ? `${Math.round(fraction + 1)}×` : `${percent} %`}
    </span>
  );
}
