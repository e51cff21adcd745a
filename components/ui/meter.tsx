import { cn } from "@/components/cn";
import { formatPercent } from "@/components/format-percent";

/** A bar that shows how much of a limit is used: amber from 0.8 on, red from 1 on. Show the figure beside it as well. */
export function Meter({
  fraction,
  label,
  className,
}: {
  fraction: number;
  label: string;
  className?: string;
}) {
  const percent = Math.min(Math.max(fraction, 0), 1) * 100;
  const colour = fraction >= 1 ? "bg-destructive" : fraction >= 0.8 ? "bg-warning" : "bg-primary";
  return (
    // biome-ignore lint/a11y/useSemanticElements: <meter> cannot be styled alike in all browsers.
    <div
      role="meter"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.floor(percent)}
      aria-valuetext={formatPercent(fraction)}
      className={cn("h-1.5 overflow-hidden rounded-full bg-secondary", className)}
    >
      <div className={cn("h-full rounded-full", colour)} style={{ width: `${percent}%` }} />
    </div>
  );
}
