"use client";

import Link from "next/link";
import type { AmountProp } from "@/components/amount";
import { formatPercent } from "@/components/format-percent";
import { Money, shownNumber } from "@/components/money";
import { Disclosure } from "@/components/ui/disclosure";
import { sharesOf } from "./shares";

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
  const shares = sharesOf(
    rows.map((row) => shownNumber(row.total)),
    shownNumber(total),
  );
  const withShares = rows.map((row, index) => ({ ...row, share: shares[index] ?? null }));
  const isMixed = shares.some((share) => share !== null && share < 0);
  // A single row more is shown at once, because the line that unfolds it would take the same space.
  const shown = rows.length > maxRows + 1 ? withShares.slice(0, maxRows) : withShares;
  const rest = withShares.slice(shown.length);
  return (
    <section aria-labelledby={id} className="min-w-0">
      <h2 id={id} className="pb-2 font-medium text-sm">
        {title}
      </h2>
      {isMixed ? (
        <p className="pb-2 text-muted-foreground text-xs">
          Some amounts are below zero: percentages are of all amounts without their signs.
        </p>
      ) : null}
      <Rows rows={shown} isMixed={isMixed} figure={figure} />
      {rest.length > 0 ? (
        <Disclosure
          summary={`${rest.length} more`}
          className="border-t"
          summaryClassName="w-fit rounded-sm py-2 text-muted-foreground text-sm hover:text-foreground"
        >
          {() => <Rows rows={rest} isMixed={isMixed} figure={figure} />}
        </Disclosure>
      ) : null}
    </section>
  );
}

function Rows({
  rows,
  isMixed,
  figure,
}: {
  rows: (BreakdownRow & { share: number | null })[];
  /** Whether bars go to both sides of the middle. */
  isMixed: boolean;
  figure: string | undefined;
}) {
  return (
    <ul>
      {rows.map(({ name, total, href, share, colour = "var(--primary)" }) => {
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
              <span className="w-12 whitespace-nowrap text-right text-muted-foreground text-xs tabular-nums">
                {shareText(share)}
              </span>
            </p>
            <span aria-hidden="true" className="mt-1.5 block h-1 overflow-hidden rounded-full bg-secondary">
              <span
                className="block h-full rounded-full"
                style={{ ...placeOf(share ?? 0, isMixed), background: colour }}
              />
            </span>
          </li>
        );
      })}
    </ul>
  );
}

/** A share in percent; one that would round to nothing is not called 0 %. */
function shareText(share: number | null): string {
  if (share === null) return "—";
  if (share !== 0 && Math.abs(share) < 0.005) return share > 0 ? "< 1 %" : "> -1 %";
  return formatPercent(String(share));
}

/** Where the bar of a share is: from the left, or to both sides of the middle. */
function placeOf(share: number, isMixed: boolean): { width: string; marginLeft: string } {
  if (!isMixed) return { width: `${share * 100}%`, marginLeft: "0" };
  const width = Math.abs(share) * 50;
  return { width: `${width}%`, marginLeft: `${share < 0 ? 50 - width : 50}%` };
}
