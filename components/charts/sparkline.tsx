import { cn } from "@/components/cn";
import { fromTop, makeScale } from "./scale";

/** A small line chart. It is hidden from screen readers, as the figures are beside it. */
export function Sparkline({
  values,
  colour = "var(--primary)",
  className,
}: {
  values: number[];
  colour?: string;
  className?: string;
}) {
  const scale = makeScale(values);
  const last = Math.max(values.length - 1, 1);
  const points = values.map((value, index) => `${(index / last) * 100},${fromTop(value, scale)}`).join(" ");
  return (
    <svg
      viewBox="0 0 100 100"
      preserveAspectRatio="none"
      aria-hidden="true"
      className={cn("block h-7 w-28 overflow-visible", className)}
    >
      <polygon points={`0,100 ${points} 100,100`} fill={colour} opacity="0.12" />
      <polyline
        points={points}
        fill="none"
        stroke={colour}
        strokeWidth="1.5"
        strokeLinejoin="round"
        vectorEffect="non-scaling-stroke"
      />
    </svg>
  );
}
