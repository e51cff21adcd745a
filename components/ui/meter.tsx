import { formatPercent } from "@/components/figures/format-percent";
import { cn } from "./cn";

/** A bar that shows how much of a limit is used: amber from 0.8 on, red from 1 on. Show the figure beside it as well. */
export function Meter({
  fraction,
  label,
  marks = [],
  className,
}: {
  fraction: number;
  label: string;
  /** Fractions of the limit that get a tick mark; those above 1 are not drawn. Explain the marks in text beside the meter. */
  marks?: number[];
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
      className={cn("relative h-1.5", className)}
    >
      <div className="h-full overflow-hidden rounded-full bg-secondary">
        <div className={cn("h-full rounded-full", colour)} style={{ width: `${percent}%` }} />
      </div>
      {marks
        .filter((mark) => mark > 0 && mark <= 1)
        .map((mark) => (
          <span
            key={mark}
            aria-hidden="true"
            className="absolute -top-1 h-3.5 w-0.5 -translate-x-1/2 rounded-full bg-muted-foreground ring-1 ring-card"
            style={{ left: `${mark * 100}%` }}
          />
        ))}
    </div>
  );
}
