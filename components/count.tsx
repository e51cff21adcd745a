import { cn } from "@/components/cn";

const whole = new Intl.NumberFormat("en-US");
const short = new Intl.NumberFormat("en-US", { notation: "compact", maximumFractionDigits: 1 });

/** A number of things: in full, or from 100,000 on as 1.2M with the full figure on hover where it is `compact`. */
export function Count({
  value,
  compact = false,
  figure,
  className,
}: {
  value: number;
  compact?: boolean;
  /** What the API calls it, as of Money. */
  figure?: string;
  className?: string;
}) {
  const isShort = compact && Math.abs(value) >= 100_000;
  return (
    <span
      className={cn("tabular-nums", className)}
      title={isShort ? whole.format(value) : undefined}
      {...(figure && { "data-figure": figure, "data-exact": value })}
    >
      {(isShort ? short : whole).format(value)}
    </span>
  );
}
