import type { AmountProp } from "@/components/figures/amount";
import { formatPercent } from "@/components/figures/format-percent";
import { Money } from "@/components/figures/money";
import { Link } from "@/components/ui/link";

/** A part of a total. `total` is exact USD, with its conversion if there is one. `colour`: its colour in other charts. `href`: its rows. */
export type BreakdownRow = { name: string; total: AmountProp; href?: string; colour?: string };

/** Rows with their shares (`sharesOf`). `isMixed`: whether bars go to both sides of the middle. */
export type BreakdownRowsProps = {
  rows: (BreakdownRow & { share: number | null })[];
  isMixed: boolean;
  figure: string | undefined;
};

/** Parts of a total: each with its amount, its percentage and a bar. */
export function BreakdownRows({ rows, isMixed, figure }: BreakdownRowsProps) {
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
                  dir="auto"
                  className="min-w-0 flex-1 truncate rounded-sm text-left hover:underline"
                >
                  {name}
                </Link>
              ) : (
                <span dir="auto" className="min-w-0 flex-1 truncate text-left text-muted-foreground">
                  {name}
                </span>
              )}
              <Money usd={total} {...(figure && { figure })} />
              <span className="w-12 whitespace-nowrap text-right text-muted-foreground text-xs tabular-nums">
                {share === null ? "—" : formatPercent(share)}
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

/** The position of a share's bar: from the left, or to either side of the middle. */
function placeOf(share: number, isMixed: boolean): { width: string; marginLeft: string } {
  if (!isMixed) return { width: `${share * 100}%`, marginLeft: "0" };
  const width = Math.abs(share) * 50;
  return { width: `${width}%`, marginLeft: `${share < 0 ? 50 - width : 50}%` };
}
