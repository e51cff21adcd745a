import { cn } from "@/components/ui/cn";
import { formatNumber, formatShortNumber } from "./format-count";

/** A count. With `compact`, counts from 100,000 on are shortened ("1.2M"), with the full count on hover. */
export function Count({
  value,
  compact = false,
  figure,
  className,
}: {
  value: number;
  compact?: boolean;
  /** Name of the figure in the API, as in Money. */
  figure?: string;
  className?: string;
}) {
  const isShort = compact && Math.abs(value) >= 100_000;
  return (
    <span
      className={cn("tabular-nums", className)}
      title={isShort ? formatNumber(value) : undefined}
      {...(figure && { "data-figure": figure, "data-exact": value })}
    >
      {isShort ? formatShortNumber(value) : formatNumber(value)}
    </span>
  );
}
