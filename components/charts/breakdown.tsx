import type { AmountProp } from "@/components/figures/amount";
import { shownNumber } from "@/components/figures/money";
import { Link } from "@/components/ui/link";
import { BreakdownRest } from "./breakdown-rest";
import { type BreakdownRow, BreakdownRows } from "./breakdown-rows";

/** The rows that are shown folded. */
const maxRows = 6;

/** The parts of a total, the largest first: each with its amount, its percentage and a bar. */
export function Breakdown({
  title,
  href,
  rows,
  total,
  figure,
}: {
  title: string;
  /** The URL of the page that lists all rows of the breakdown. */
  href?: string | undefined;
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
  // A single further row is shown, too, because the line that unfolds it would take the same space.
  const shown = rows.length > maxRows + 1 ? withShares.slice(0, maxRows) : withShares;
  const rest = withShares.slice(shown.length);
  return (
    <section aria-labelledby={id} className="min-w-0">
      <h2 id={id} className="pb-2 font-medium text-sm">
        {href ? (
          <Link href={href} prefetch={false} className="rounded-sm underline-offset-4 hover:underline">
            {title}
          </Link>
        ) : (
          title
        )}
      </h2>
      {isMixed ? (
        <p className="pb-2 text-muted-foreground text-xs">
          Some amounts are below zero: percentages are of all amounts without their signs.
        </p>
      ) : null}
      <BreakdownRows rows={shown} isMixed={isMixed} figure={figure} />
      {rest.length > 0 ? <BreakdownRest rows={rest} isMixed={isMixed} figure={figure} /> : null}
    </section>
  );
}

/**
 * The share of each amount. If no amount is negative, it is the share of the total, at most 1. Otherwise a total says little (it may
 * even be zero), so it is the share of the sum of the absolute amounts, with the sign of the amount.
 * @param total the total that the amounts are parts of; they may overlap (tags) or be incomplete
 * @returns null for each amount if the total is zero
 */
export function sharesOf(amounts: number[], total: number): (number | null)[] {
  const isMixed = total < 0 || amounts.some((amount) => amount < 0);
  const whole = isMixed ? amounts.reduce((sum, amount) => sum + Math.abs(amount), 0) : total;
  return amounts.map((amount) => (whole > 0 ? Math.min(Math.max(amount / whole, -1), 1) : null));
}
