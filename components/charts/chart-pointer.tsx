"use client";

import { type KeyboardEvent, type PointerEvent, useState } from "react";
import { indexAfterKey } from "@/components/ui/arrow-keys";

/** The most figures in the tooltip. */
const maxListed = 12;

/** The content of the tooltip for a place of a chart, or for several places together. */
export type Reading = {
  title: string;
  /** The whole content as text, without the title, for screen readers. */
  says: string;
  figures: { name: string; colour: string; text: string }[];
  /** The sum of all its figures. */
  total?: string;
  /** The value that it is compared with. */
  compared?: { label: string; text: string };
  /** Events in its time. */
  notes?: string[];
};

/**
 * The interactive layer of every chart. The pointer, a finger or the arrow keys select a place and show its figures; a click or Enter
 * opens its rows. Dragging with a mouse or Shift with an arrow key marks several places, which `onZoom` opens. A tap only shows the
 * figures.
 */
export function ChartPointer({
  label,
  count,
  read,
  inset,
  onOpen,
  onZoom,
}: {
  label: string;
  /** The number of places. */
  count: number;
  /** Returns the content for the places from the first to the last one, with summed figures. */
  read: (first: number, last: number) => Reading;
  /** The space between the edges and the places, in pixels. */
  inset: { left: number; right: number; bottom: number };
  onOpen?: ((place: number) => void) | undefined;
  /** Shows only the places from the first to the last one. */
  onZoom?: ((first: number, last: number) => void) | undefined;
}) {
  const [chosen, setSelected] = useState<number>();
  // After a change of the range, there may be fewer places.
  const selected = chosen !== undefined && chosen < count ? chosen : undefined;
  /** Where a marked range began; it ends at the selected place. */
  const [anchor, setAnchor] = useState<number>();
  const [isDragging, setDragging] = useState(false);
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
    if (marked && onZoom) {
      onZoom(marked.first, marked.last);
      clear();
    } else if (selected !== undefined) onOpen?.(selected);
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
  const [first, last] = marked ? [marked.first, marked.last] : [selected ?? 0, selected ?? 0];
  const reading = selected === undefined ? undefined : read(first, last);
  const hint = `Use the arrow keys to read the chart${onZoom ? ", with Shift to mark a range, Enter to zoom into it" : ""}`;
  return (
    <div
      role="slider"
      tabIndex={0}
      aria-label={label}
      aria-valuemin={1}
      aria-valuemax={Math.max(count, 1)}
      aria-valuenow={(selected ?? count - 1) + 1}
      aria-valuetext={
        reading ? `${reading.title}: ${reading.says}${marked ? ". Press Enter to zoom in" : ""}` : hint
      }
      className="absolute top-0 cursor-crosshair touch-pan-y select-none rounded-sm outline-offset-2"
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
      {selected === undefined || !reading ? null : (
        <>
          <div
            className="pointer-events-none absolute inset-y-0 bg-foreground/8"
            style={{
              left: `${(first / count) * 100}%`,
              width: `${((last - first + 1) / count) * 100}%`,
            }}
          />
          <Tooltip
            reading={reading}
            style={
              selected < count / 2
                ? { left: `calc(${((selected + 1) / count) * 100}% + 0.5rem)` }
                : { right: `calc(${(1 - selected / count) * 100}% + 0.5rem)` }
            }
          />
        </>
      )}
    </div>
  );
}

/** The figures of the selected place, or of the marked ones. */
function Tooltip({
  reading: { title, figures, total, compared, notes = [] },
  style,
}: {
  reading: Reading;
  style: { left: string } | { right: string };
}) {
  return (
    <div
      style={style}
      className="pointer-events-none absolute top-0 z-10 grid w-max max-w-64 gap-1.5 rounded-md border bg-popover px-3 py-2 text-popover-foreground text-xs shadow-lg"
    >
      <p className="flex justify-between gap-6 font-medium">
        <span dir="auto" className="truncate text-left">
          {title}
        </span>
        {total ? <span className="tabular-nums">{total}</span> : null}
      </p>
      {figures.slice(0, maxListed).map(({ name, colour, text }) => (
        <p key={name} className="flex items-center gap-2">
          <span className="size-2 shrink-0 rounded-[2px]" style={{ background: colour }} />
          <span dir="auto" className="min-w-0 flex-1 truncate text-left">
            {name}
          </span>
          <span className="text-muted-foreground tabular-nums">{text}</span>
        </p>
      ))}
      {compared ? (
        <p className="flex justify-between gap-6 border-t pt-1.5 text-muted-foreground">
          <span className="min-w-0">{compared.label}</span>
          <span className="tabular-nums">{compared.text}</span>
        </p>
      ) : null}
      {notes.map((note) => (
        <p key={note} className="max-w-56 border-t pt-1.5 [overflow-wrap:anywhere]">
          {note}
        </p>
      ))}
    </div>
  );
}
