import Link from "next/link";
import { formatChartAmount, formatTick, shownNumber } from "@/components/money";
import type { Bar, ChartGroup } from "./chart-data";
import { Crosshair } from "./crosshair";
import { FigureTable } from "./figure-table";
import { fromTop, makeScale, type Scale, stack } from "./scale";

/**
 * Spend over time: a bar for each day or month, stacked by group, with the previous period as a thin line. The server
 * renders it completely, with a fixed height; the browser adds the crosshair.
 * @param props.unfinished index of the current day or month; undefined when all bars are complete
 */
export function SpendChart({
  label,
  groups,
  bars,
  unfinished,
}: {
  label: string;
  groups: ChartGroup[];
  bars: Bar[];
  unfinished?: number | undefined;
}) {
  const amounts = bars.map((bar) => bar.amounts.map(shownNumber));
  const before = bars.map(({ previous }) => (previous === null ? null : shownNumber(previous)));
  const scale = makeScale([
    ...amounts.flatMap((parts) => [sumOf(parts, 1), sumOf(parts, -1)]),
    ...before.flatMap((amount) => amount ?? []),
  ]);
  return (
    <figure className="grid grid-cols-[minmax(0,1fr)] gap-3" aria-label={label}>
      <Legend
        groups={groups}
        hasPrevious={before.some((amount) => amount !== null)}
        hasNotes={bars.some(({ notes }) => notes)}
      />
      <div className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-2">
        <Axis scale={scale} />
        <div className="relative h-56 sm:h-64">
          <svg
            viewBox={`0 0 ${bars.length} 100`}
            preserveAspectRatio="none"
            aria-hidden="true"
            className="absolute inset-0 size-full overflow-visible"
          >
            <GridLines scale={scale} width={bars.length} />
            <PreviousLine amounts={before} scale={scale} />
            <CompleteBars
              amounts={amounts.map((parts, at) => (at === unfinished ? [] : parts))}
              scale={scale}
              groups={groups}
            />
            {unfinished === undefined ? null : (
              <CurrentBar parts={amounts[unfinished] ?? []} at={unfinished} scale={scale} groups={groups} />
            )}
          </svg>
          <NoteMarks bars={bars} />
          <Crosshair label={label} groups={groups} bars={bars} />
        </div>
        <span />
        <Labels bars={bars} />
      </div>
      <FigureTable label={label} groups={groups} bars={bars} />
    </figure>
  );
}

/** The sum of the positive parts (`sign` 1) or of the negative ones (`sign` -1). */
function sumOf(parts: number[], sign: 1 | -1): number {
  return parts.reduce((sum, part) => (part * sign > 0 ? sum + part : sum), 0);
}

function Legend({
  groups,
  hasPrevious,
  hasNotes,
}: {
  groups: ChartGroup[];
  hasPrevious: boolean;
  hasNotes: boolean;
}) {
  return (
    <ul className="flex flex-wrap gap-x-5 gap-y-1.5 text-[13px]">
      {groups.map(({ name, colour, total, href }) => {
        const entry = (
          <>
            <span
              aria-hidden="true"
              className="size-2.5 shrink-0 rounded-[3px]"
              style={{ background: colour }}
            />
            <span className="truncate">{name}</span>
            <span className="text-muted-foreground">{formatChartAmount(total)}</span>
          </>
        );
        return (
          <li key={name} className="min-w-0 max-w-full">
            {href ? (
              <Link
                href={href}
                prefetch={false}
                className="flex items-center gap-2 rounded-sm hover:underline"
              >
                {entry}
              </Link>
            ) : (
              <span className="flex items-center gap-2">{entry}</span>
            )}
          </li>
        );
      })}
      {hasPrevious ? (
        <li className="flex items-center gap-2 text-muted-foreground">
          <span aria-hidden="true" className="h-px w-4 bg-foreground/60" />
          Previous period
        </li>
      ) : null}
      {hasNotes ? (
        <li className="flex items-center gap-2 text-muted-foreground">
          <NoteMark />
          Budget threshold reached
        </li>
      ) : null}
    </ul>
  );
}

function Axis({ scale }: { scale: Scale }) {
  return (
    <div aria-hidden="true" className="relative w-12 text-right text-[11px] text-muted-foreground">
      {scale.ticks.map((tick) => (
        <span
          key={tick}
          className="absolute right-0 -translate-y-1/2 whitespace-nowrap"
          style={{ top: `${fromTop(tick, scale)}%` }}
        >
          {formatTick(tick)}
        </span>
      ))}
    </div>
  );
}

function GridLines({ scale, width }: { scale: Scale; width: number }) {
  return scale.ticks.map((tick) => (
    <line
      key={tick}
      x1="0"
      x2={width}
      y1={fromTop(tick, scale)}
      y2={fromTop(tick, scale)}
      stroke={tick === 0 ? "var(--input)" : "var(--border)"}
      vectorEffect="non-scaling-stroke"
    />
  ));
}

/** The width of a bar and its left edge, as fractions of the space for one bar. */
const barWidth = 0.72;
const barStart = (1 - barWidth) / 2;

/** The bars of complete days or months. All segments of a group are one SVG path. */
function CompleteBars({
  amounts,
  scale,
  groups,
}: {
  amounts: number[][];
  scale: Scale;
  groups: ChartGroup[];
}) {
  const shapes = groups.map(() => "");
  for (const [at, parts] of amounts.entries()) {
    for (const { group, top, height } of stack(parts, scale)) {
      shapes[group] += `M${at + barStart} ${round(top)}h${barWidth}v${round(height)}h-${barWidth}z`;
    }
  }
  return groups.map(({ name, colour }, group) => <path key={name} d={shapes[group]} fill={colour} />);
}

/** Rounds to a thousandth of a percent, which is less than a pixel, to keep the paths short. */
const round = (percent: number) => Math.round(percent * 1000) / 1000;

/** The bar of the current day or month: paler, with a dashed edge. */
function CurrentBar({
  parts,
  at,
  scale,
  groups,
}: {
  parts: number[];
  at: number;
  scale: Scale;
  groups: ChartGroup[];
}) {
  return stack(parts, scale).map(({ group, top, height }) => {
    const colour = groups[group]?.colour;
    return (
      <rect
        key={group}
        x={at + barStart}
        width={barWidth}
        y={top}
        height={height}
        fill={colour}
        fillOpacity={0.35}
        stroke={colour}
        strokeDasharray="3 2"
        vectorEffect="non-scaling-stroke"
      />
    );
  });
}

/** The line of the previous period's totals; none for fewer than two points. */
function PreviousLine({ amounts, scale }: { amounts: (number | null)[]; scale: Scale }) {
  const points = amounts.flatMap((amount, index) =>
    amount === null ? [] : [`${index + 0.5},${fromTop(amount, scale)}`],
  );
  if (points.length < 2) return null;
  return (
    <polyline
      points={points.join(" ")}
      fill="none"
      stroke="var(--foreground)"
      strokeOpacity="0.6"
      strokeWidth="1.25"
      strokeLinejoin="round"
      vectorEffect="non-scaling-stroke"
    />
  );
}

/** A flag that points down: at the top of the chart, above the bar. */
function NoteMark() {
  return (
    <svg viewBox="0 0 10 8" aria-hidden="true" className="h-2 w-2.5 shrink-0">
      <path d="M0 0h10l-5 8z" fill="var(--foreground)" />
    </svg>
  );
}

/** Marks above the bars in which something happened, and a list of it for screen readers. */
function NoteMarks({ bars }: { bars: Bar[] }) {
  const noted = bars.flatMap(({ title, notes }, index) => (notes ? [{ title, notes, index }] : []));
  if (noted.length === 0) return null;
  return (
    <>
      {noted.map(({ title, index }) => (
        <span
          key={title}
          aria-hidden="true"
          className="absolute inset-y-0 flex w-0 flex-col items-center border-foreground/40 border-l border-dashed"
          style={{ left: `${((index + 0.5) / bars.length) * 100}%` }}
        >
          <span className="-mt-1 -ml-px flex">
            <NoteMark />
          </span>
        </span>
      ))}
      <ul className="sr-only" aria-label="Budget thresholds reached">
        {noted.flatMap(({ title, notes }) =>
          notes.map((note) => (
            <li key={`${title} ${note}`}>
              {title}: {note}
            </li>
          )),
        )}
      </ul>
    </>
  );
}

/** The most labels that fit below a chart; a phone shows every second of them. */
const maxLabels = 10;

function Labels({ bars }: { bars: Bar[] }) {
  const every = Math.ceil(bars.length / maxLabels);
  return (
    <div aria-hidden="true" className="relative mt-1.5 h-4 text-[11px] text-muted-foreground">
      {bars.map(({ title, short }, index) =>
        index % every === 0 ? (
          <span
            key={title}
            className={`absolute -translate-x-1/2 whitespace-nowrap ${(index / every) % 2 === 1 ? "max-sm:hidden" : ""}`}
            style={{ left: `${((index + 0.5) / bars.length) * 100}%` }}
          >
            {short}
          </span>
        ) : null,
      )}
    </div>
  );
}
