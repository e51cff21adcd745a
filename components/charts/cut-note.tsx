"use client";

import { formatCount } from "@/components/figures/format-count";
import { formatList } from "@/components/figures/format-list";

/** The most days that are all named. If there are more, only the largest is named. */
const maxNamed = 2;

/**
 * Lists the places that exceed a cut axis, with the button that shows the whole axis.
 * @param props.beyond the places that exceed it, the largest first
 * @param props.unit the name of a place: "day"
 */
export function CutNote({
  beyond,
  unit,
  isWhole,
  onChange,
}: {
  beyond: { title: string; text: string }[];
  unit: string;
  /** Whether the whole axis is shown. */
  isWhole: boolean;
  onChange: (isWhole: boolean) => void;
}) {
  const [largest] = beyond;
  if (!largest) return null;
  const preposition = unit === "day" ? "on" : unit === "bar" ? "for" : "in";
  const named =
    beyond.length <= maxNamed
      ? formatList(beyond.map(({ title, text }) => `${text} ${preposition} ${title}`))
      : `up to ${largest.text} ${preposition} ${largest.title}`;
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
