import { cn } from "@/components/ui/cn";
import type { SparklineShape } from "./sparkline-shape";

/** A small line chart. It is hidden from screen readers, as the figures are beside it. */
export function Sparkline({
  shape,
  colour = "var(--primary)",
  className,
}: {
  shape: SparklineShape;
  colour?: string;
  className?: string;
}) {
  return (
    <svg
      viewBox="0 0 100 100"
      preserveAspectRatio="none"
      aria-hidden="true"
      className={cn("block h-7 w-28", className)}
    >
      <path d={shape.area} fill={colour} opacity="0.12" />
      <path
        d={shape.line}
        fill="none"
        stroke={colour}
        strokeWidth="1.5"
        strokeLinejoin="round"
        vectorEffect="non-scaling-stroke"
      />
    </svg>
  );
}
