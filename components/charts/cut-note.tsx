"use client";

import { formatCount } from "@/components/figures/format-count";
import { formatList } from "@/components/figures/format-list";

/** Days that are named each; of more, only the largest is. */
const maxNamed = 2;

/**
 * Says what goes beyond the end of a cut axis, with the button that shows all of it.
 * @param props.beyond what goes beyond, the largest first
 * @param props.unit what a place is: "day"
 */
export function CutNote({
  beyond,
  unit,
  isWhole,
  onChange,
}: {
  beyond: { title: string; text: string }[];
  unit: string;
  /** Whether all of it is shown. */
  isWhole: boolean;
  onChange: (isWhole: boolean) => void;
}) {
  const [largest] = beyond;
  if (!largest) return null;
  const named =
    beyond.length <= maxNamed
      ? formatList(beyond.map(({ title, text }) => `${text} on ${title}`))
      : `up to ${largest.text} on ${largest.title}`;
  const count = formatCount(beyond.length, unit);
  const verb = beyond.length === 1 ? "goes" : "go";
  return (
    <p className="text-muted-foreground text-xs">
      {isWhole
        ? `${count} ${verb} far beyond the others: ${named}.`
        : `${count} ${verb} beyond the axis: ${named}.`}{" "}
      <button
        type="button"
        className="rounded-sm text-foreground underline underline-offset-2"
        onClick={() => onChange(!isWhole)}
      >
        {isWhole ? "Cut the axis" : "Show the full scale"}
      </button>
    </p>
  );
}
