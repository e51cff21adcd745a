"use client";

import { useRouter } from "next/navigation";
import { type KeyboardEvent, type PointerEvent, useState } from "react";
import { exactText } from "@/components/amount";
import { formatUsd } from "@/components/money";
import type { Bar, ChartGroup } from "./chart-data";

/**
 * Points at the bars of a chart: with the pointer, a finger or the arrow keys. Enter and a
 * click lead to the rows behind a bar; a finger only looks, the table has the links.
 */
export function Crosshair({ label, groups, bars }: { label: string; groups: ChartGroup[]; bars: Bar[] }) {
  const router = useRouter();
  const [at, setAt] = useState<number>();
  const bar = at === undefined ? undefined : bars[at];
  const count = bars.length;
  const follow = ({ clientX, currentTarget }: PointerEvent) => {
    const { left, width } = currentTarget.getBoundingClientRect();
    setAt(Math.min(Math.max(Math.floor(((clientX - left) / width) * count), 0), count - 1));
  };
  const move = (to: number) => setAt(Math.min(Math.max(to, 0), count - 1));
  const onKeyDown = (event: KeyboardEvent) => {
    const { key } = event;
    if (key === "ArrowRight") move((at ?? -1) + 1);
    else if (key === "ArrowLeft") move((at ?? count) - 1);
    else if (key === "Home") move(0);
    else if (key === "End") move(count - 1);
    else if (key === "Escape") setAt(undefined);
    else if (key === "Enter" && bar) router.push(bar.href);
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
      aria-valuenow={(at ?? count - 1) + 1}
      aria-valuetext={bar ? `${bar.title}: ${formatUsd(bar.total)}` : "Arrow keys read the bars"}
      className="absolute inset-0 cursor-crosshair rounded-sm outline-offset-2"
      onPointerMove={follow}
      onPointerDown={follow}
      onPointerLeave={() => setAt(undefined)}
      onBlur={() => setAt(undefined)}
      onClick={(event) => {
        const isMouse = (event.nativeEvent as globalThis.PointerEvent).pointerType === "mouse";
        if (isMouse && bar) router.push(bar.href);
      }}
      onKeyDown={onKeyDown}
    >
      {bar && at !== undefined ? (
        <>
          <div
            className="pointer-events-none absolute inset-y-0 bg-foreground/5"
            style={{ left: `${(at / count) * 100}%`, width: `${100 / count}%` }}
          />
          <Reading bar={bar} groups={groups} left={(at + 0.5) / count} />
        </>
      ) : null}
    </div>
  );
}

/** What is said of a bar. */
function Reading({
  bar: { title, total, amounts, previous },
  groups,
  left,
}: {
  bar: Bar;
  groups: ChartGroup[];
  left: number;
}) {
  const side =
    left < 0.5 ? { left: `calc(${left * 100}% + 1rem)` } : { right: `calc(${(1 - left) * 100}% + 1rem)` };
  return (
    <div
      style={side}
      className="pointer-events-none absolute top-0 z-10 grid w-max max-w-64 gap-1.5 rounded-md border bg-popover px-3 py-2 text-popover-foreground text-xs shadow-lg"
    >
      <p className="flex justify-between gap-6 font-medium">
        {title} <span>{formatUsd(total)}</span>
      </p>
      {groups.map(({ name, colour }, group) => {
        const amount = amounts[group] ?? 0;
        if (Number(exactText(amount)) === 0) return null;
        return (
          <p key={name} className="flex items-center gap-2">
            <span className="size-2 shrink-0 rounded-[2px]" style={{ background: colour }} />
            <span className="min-w-0 flex-1 truncate">{name}</span>
            <span className="text-muted-foreground">{formatUsd(amount)}</span>
          </p>
        );
      })}
      {previous === null ? null : (
        <p className="flex justify-between gap-6 border-t pt-1.5 text-muted-foreground">
          Period before <span>{formatUsd(previous)}</span>
        </p>
      )}
    </div>
  );
}
