"use client";

import Link from "next/link";
import { formatPercent } from "@/components/format-percent";
import { Money } from "@/components/money";
import { Unfold } from "@/components/ui/unfold";

/** A part of a whole; amounts are exact text. `colour` where it has one on other charts. */
export type BreakdownRow = { name: string; total: string; href?: string; colour?: string };

/** Rows that are in sight at once; the rest unfolds. */
const maxRows = 6;

/** What a total is made of, the dearest first: a bar, the amount and the part each is. */
export function Breakdown({
  title,
  rows,
  total,
  figure,
}: {
  title: string;
  rows: BreakdownRow[];
  total: string;
  /** What the API calls this breakdown. */
  figure?: string;
}) {
  const id = `by-${title.toLowerCase().replaceAll(" ", "-")}`;
  const whole = Number(total);
  // One more row than fits is shown rather than folded away: unfolding takes as much room.
  const inSight = rows.length > maxRows + 1 ? rows.slice(0, maxRows) : rows;
  const rest = rows.slice(inSight.length);
  return (
    <section aria-labelledby={id} className="min-w-0">
      <h2 id={id} className="pb-2 font-medium text-sm">
        {title}
      </h2>
      <Rows rows={inSight} whole={whole} figure={figure} />
      {rest.length > 0 ? (
        <Unfold
          summary={`${rest.length} more`}
          className="border-t"
          summaryClassName="w-fit rounded-sm py-2 text-muted-foreground text-sm hover:text-foreground"
        >
          {() => <Rows rows={rest} whole={whole} figure={figure} />}
        </Unfold>
      ) : null}
    </section>
  );
}

function Rows({ rows, whole, figure }: { rows: BreakdownRow[]; whole: number; figure: string | undefined }) {
  return (
    <ul>
      {rows.map(({ name, total, href, colour = "var(--primary)" }) => {
        const share = whole > 0 ? Math.min(Math.max(Number(total) / whole, 0), 1) : 0;
        return (
          <li key={`${name} ${href}`} className="border-t py-2 text-sm">
            <p className="flex items-baseline gap-3">
              {href ? (
                <Link
                  href={href}
                  prefetch={false}
                  className="min-w-0 flex-1 truncate rounded-sm hover:underline"
                >
                  {name}
                </Link>
              ) : (
                <span className="min-w-0 flex-1 truncate text-muted-foreground">{name}</span>
              )}
              <Money usd={total} {...(figure && { figure })} />
              <span className="w-11 text-right text-muted-foreground text-xs">
                {formatPercent(String(share))}
              </span>
            </p>
            <span aria-hidden="true" className="mt-1.5 block h-1 overflow-hidden rounded-full bg-secondary">
              <span
                className="block h-full rounded-full"
                style={{ width: `${share * 100}%`, background: colour }}
              />
            </span>
          </li>
        );
      })}
    </ul>
  );
}
