import type { Bar } from "./chart-data";
import { margin } from "./margin";

/** A flag that points down: at the top of the chart, above the bar. */
export function NoteMark() {
  return (
    <svg viewBox="0 0 10 8" aria-hidden="true" className="h-2 w-2.5 shrink-0">
      <path d="M0 0h10l-5 8z" fill="var(--foreground)" />
    </svg>
  );
}

/** Marks above the bars with events, and a list of the events for screen readers. */
export function NoteMarks({ bars }: { bars: Bar[] }) {
  const noted = bars.flatMap(({ title, notes }, index) => (notes ? [{ title, notes, index }] : []));
  if (noted.length === 0) return null;
  return (
    <>
      {noted.map(({ title, index }) => (
        <span
          key={title}
          aria-hidden="true"
          className="absolute flex w-0 flex-col items-center border-foreground/40 border-l border-dashed"
          style={{
            top: margin.top,
            bottom: margin.bottom,
            left: `${((index + 0.5) / bars.length) * 100}%`,
          }}
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
