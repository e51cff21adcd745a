"use client";

import { useRouter } from "next/navigation";
import { type KeyboardEvent, type PointerEvent, useState } from "react";
import { exactText } from "@/components/amount";
import { formatChartAmount } from "@/components/money";
import { indexAfterKey } from "@/components/ui/arrow-keys";
import type { Bar, ChartGroup } from "./chart-data";

/**
 * The interactive layer over a chart: the pointer, a finger or the arrow keys select a bar and show its figures. Enter or
 * a mouse click opens the rows behind the bar; a tap only shows the figures, as the table below has the links.
 */
export function Crosshair({ label, groups, bars }: { label: string; groups: ChartGroup[]; bars: Bar[] }) {
  const router = useRouter();
  const [selected, setSelected] = useState<number>();
  const bar = selected === undefined ? undefined : bars[selected];
  const count = bars.length;
  const selectAtPointer = ({ clientX, currentTarget }: PointerEvent) => {
    const { left, width } = currentTarget.getBoundingClientRect();
    setSelected(Math.min(Math.max(Math.floor(((clientX - left) / width) * count), 0), count - 1));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const next = indexAfterKey(event.key, selected ?? -1, count, { axis: "horizontal", hasEnds: true });
    if (next !== undefined) setSelected(next);
    else if (event.key === "Escape") setSelected(undefined);
    else if (event.key === "Enter" && bar) router.push(bar.href);
    else return;
    event.preventDefault();
  };
  return (
    <div
      role="slider"
      tabIndex={0}
      aria-label={label}
      aria-valuemin={1}
      aria-valuemax={count}
      aria-valuenow={(selected ?? count - 1) + 1}
      aria-valuetext={
        bar
          ? [`${bar.title}: ${formatChartAmount(bar.total)}`, ...(bar.notes ?? [])].join(". ")
          : "Use the arrow keys to read the bars"
      }
      className="absolute inset-0 cursor-crosshair rounded-sm outline-offset-2"
      onPointerMove={selectAtPointer}
      onPointerDown={selectAtPointer}
      onPointerLeave={() => setSelected(undefined)}
      onBlur={() => setSelected(undefined)}
      onClick={(event) => {
        const isMouse = (event.nativeEvent as globalThis.PointerEvent).pointerType === "mouse";
        if (isMouse && bar) router.push(bar.href);
      }}
      onKeyDown={onKeyDown}
    >
      {bar && selected !== undefined ? (
        <>
          <div
            className="pointer-events-none absolute inset-y-0 bg-foreground/5"
            style={{ left: `${(selected / count) * 100}%`, width: `${100 / count}%` }}
          />
          <BarTooltip bar={bar} groups={groups} position={(selected + 0.5) / count} />
        </>
      ) : null}
    </div>
  );
}

/** The figures of the selected bar. */
function BarTooltip({
  bar: { title, total, amounts, previous, notes = [] },
  groups,
  position,
}: {
  bar: Bar;
  groups: ChartGroup[];
  /** Where the middle of the bar is, from 0 (left) to 1. */
  position: number;
}) {
  const side =
    position < 0.5
      ? { left: `calc(${position * 100}% + 1rem)` }
      : { right: `calc(${(1 - position) * 100}% + 1rem)` };
  return (
    <div
      style={side}
      className="pointer-events-none absolute top-0 z-10 grid w-max max-w-64 gap-1.5 rounded-md border bg-popover px-3 py-2 text-popover-foreground text-xs shadow-lg"
    >
      <p className="flex justify-between gap-6 font-medium">
        {title} <span>{formatChartAmount(total)}</span>
      </p>
      {groups.map(({ name, colour }, group) => {
        const amount = amounts[group] ?? 0;
        if (Number(exactText(amount)) === 0) return null;
        return (
          <p key={name} className="flex items-center gap-2">
            <span className="size-2 shrink-0 rounded-[2px]" style={{ background: colour }} />
            <span className="min-w-0 flex-1 truncate">{name}</span>
            <span className="text-muted-foreground">{formatChartAmount(amount)}</span>
          </p>
        );
      })}
      {previous === null ? null : (
        <p className="flex justify-between gap-6 border-t pt-1.5 text-muted-foreground">
          Previous period <span>{formatChartAmount(previous)}</span>
        </p>
      )}
      {notes.map((note) => (
        <p key={note} className="max-w-56 border-t pt-1.5 [overflow-wrap:anywhere]">
          {note}
        </p>
      ))}
    </div>
  );
}
