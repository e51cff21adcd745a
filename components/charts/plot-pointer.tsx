"use client";

import { type KeyboardEvent, type PointerEvent, useState } from "react";
import { indexAfterKey } from "@/components/ui/arrow-keys";
import type { Place, Series } from "./series";

/** Values that the tooltip lists. */
const maxListed = 12;

/** The interactive layer over a plot: it selects a place, or a range of places, by pointer or keyboard. */
export function PlotPointer({
  label,
  series,
  places,
  format,
  inset,
  onOpen,
  onZoom,
}: {
  label: string;
  series: Series[];
  places: Place[];
  format: (value: number) => string;
  /** Where the places begin and end, in pixels from the edges. */
  inset: { left: number; right: number; bottom: number };
  onOpen?: ((place: number) => void) | undefined;
  onZoom?: ((first: number, last: number) => void) | undefined;
}) {
  const [selected, setSelected] = useState<number>();
  /** Where a marked range began; it ends at the selected place. */
  const [anchor, setAnchor] = useState<number>();
  const [isDragging, setDragging] = useState(false);
  const count = places.length;
  const marked =
    anchor !== undefined && selected !== undefined && anchor !== selected
      ? { first: Math.min(anchor, selected), last: Math.max(anchor, selected) }
      : undefined;
  const placeAt = ({ clientX, currentTarget }: PointerEvent) => {
    const { left, width } = currentTarget.getBoundingClientRect();
    return Math.min(Math.max(Math.floor(((clientX - left) / width) * count), 0), count - 1);
  };
  const clear = () => {
    setSelected(undefined);
    setAnchor(undefined);
    setDragging(false);
  };
  const open = () => {
    if (marked && onZoom) onZoom(marked.first, marked.last);
    else if (selected !== undefined) onOpen?.(selected);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const next = indexAfterKey(event.key, selected ?? -1, count, { axis: "horizontal", hasEnds: true });
    if (next !== undefined) {
      setAnchor(event.shiftKey && onZoom ? (anchor ?? selected ?? next) : undefined);
      setSelected(next);
    } else if (event.key === "Escape") clear();
    else if (event.key === "Enter" && selected !== undefined) open();
    else return;
    event.preventDefault();
  };
  const titleOf = (place: number | undefined) => places[place ?? -1]?.title ?? "";
  const listed = selected === undefined ? [] : listAt(series, selected);
  const says =
    selected === undefined
      ? `Use the arrow keys to read the chart${onZoom ? ", with Shift to mark a range, Enter to zoom into it" : ""}`
      : marked
        ? `${titleOf(marked.first)} to ${titleOf(marked.last)}: press Enter to zoom in`
        : `${titleOf(selected)}: ${listed.map(({ name, value }) => `${name} ${format(value)}`).join(", ") || "nothing"}`;
  return (
    <div
      role="slider"
      tabIndex={0}
      aria-label={label}
      aria-valuemin={1}
      aria-valuemax={Math.max(count, 1)}
      aria-valuenow={(selected ?? count - 1) + 1}
      aria-valuetext={says}
      className="absolute top-0 cursor-crosshair touch-pan-y rounded-sm outline-offset-2"
      style={inset}
      onPointerMove={(event) => setSelected(placeAt(event))}
      onPointerDown={(event) => {
        const place = placeAt(event);
        setSelected(place);
        if (!onZoom || event.pointerType !== "mouse" || event.button !== 0) return;
        setAnchor(place);
        setDragging(true);
        event.currentTarget.setPointerCapture(event.pointerId);
      }}
      onPointerUp={(event) => {
        if (event.pointerType === "mouse" && event.button === 0) open();
        if (isDragging) {
          setDragging(false);
          setAnchor(undefined);
        }
      }}
      onPointerLeave={() => !isDragging && clear()}
      onBlur={clear}
      onKeyDown={onKeyDown}
    >
      {selected === undefined ? null : (
        <>
          <div
            className="pointer-events-none absolute inset-y-0 bg-foreground/8"
            style={{
              left: `${((marked?.first ?? selected) / count) * 100}%`,
              width: `${(((marked?.last ?? selected) - (marked?.first ?? selected) + 1) / count) * 100}%`,
            }}
          />
          <div
            className="pointer-events-none absolute top-0 z-10 grid w-max max-w-64 gap-1.5 rounded-md border bg-popover px-3 py-2 text-popover-foreground text-xs shadow-lg"
            style={
              selected < count / 2
                ? { left: `calc(${((selected + 1) / count) * 100}% + 0.5rem)` }
                : { right: `calc(${(1 - selected / count) * 100}% + 0.5rem)` }
            }
          >
            <p className="truncate font-medium">
              {marked ? `${titleOf(marked.first)} – ${titleOf(marked.last)}` : titleOf(selected)}
            </p>
            {listed.slice(0, maxListed).map(({ name, colour, value }) => (
              <p key={name} className="flex items-center gap-2">
                <span className="size-2 shrink-0 rounded-[2px]" style={{ background: colour }} />
                <span className="min-w-0 flex-1 truncate">{name}</span>
                <span className="text-muted-foreground tabular-nums">{format(value)}</span>
              </p>
            ))}
          </div>
        </>
      )}
    </div>
  );
}

/** The values of a place that are not zero, the largest first. */
function listAt(series: Series[], place: number) {
  return series
    .flatMap(({ name, colour, values }) => {
      const value = values[place] ?? null;
      return value === null || value === 0 ? [] : [{ name, colour, value }];
    })
    .sort((a, b) => Math.abs(b.value) - Math.abs(a.value));
}
