"use client";

import Link from "next/link";
import type { AmountProp } from "@/components/amount";
import { formatPercent } from "@/components/format-percent";
import { Money, shownNumber } from "@/components/money";
import { Disclosure } from "@/components/ui/disclosure";

/** A part of a total. `total` is exact USD, with its conversion if there is one; `colour` is set when the part has a colour in other charts; `href` leads to its rows. */
export type BreakdownRow = { name: string; total: AmountProp; href?: string; colour?: string };

/** Rows that are shown at first; the others can be unfolded. */
const maxRows = 6;

/** The parts of a total, the largest first: each with its amount, its percentage and a bar. */
export function Breakdown({
  title,
  rows,
  total,
  figure,
}: {
  title: string;
  rows: BreakdownRow[];
  total: AmountProp;
  /** Name of the breakdown in the API, for tests that compare the shown figures. */
  figure?: string;
}) {
  const id = `by-${title.toLowerCase().replaceAll(" ", "-")}`;
  const whole = shownNumber(total);
  // A single row more is shown at once, because the line that unfolds it would take the same space.
  const shown = rows.length > maxRows + 1 ? rows.slice(0, maxRows) : rows;
  const rest = rows.slice(shown.length);
  return (
    <section aria-labelledby={id} className="min-w-0">
      <h2 id={id} className="pb-2 font-medium text-sm">
        {title}
      </h2>
      <Rows rows={shown} whole={whole} figure={figure} />
      {rest.length > 0 ? (
        <Disclosure
          summary={`${rest.length} more`}
          className="border-t"
          summaryClassName="w-fit rounded-sm py-2 text-muted-foreground text-sm hover:text-foreground"
        >
          {() => <Rows rows={rest} whole={whole} figure={figure} />}
        </Disclosure>
      ) : null}
    </section>
  );
}

function Rows({ rows, whole, figure }: { rows: BreakdownRow[]; whole: number; figure: string | undefined }) {
  return (
    <ul>
      {rows.map(({ name, total, href, colour = "var(--primary)" }) => {
        const share = whole > 0 ? Math.min(Math.max(shownNumber(total) / whole, 0), 1) : 0;
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
