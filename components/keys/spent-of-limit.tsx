import { formatDay } from "@/components/figures/format-date";
import { Money } from "@/components/figures/money";
import { Link } from "@/components/ui/link";

/**
 * What a key or a connection spent this month, as a link to its rows, and its monthly limit if it has one.
 * @param props.spent exact USD, as is `limit`
 * @param props.raisedUntil the last day of a raise, whose limit is shown
 */
export function SpentOfLimit({
  href,
  spent,
  limit,
  raisedUntil,
}: {
  href: string;
  spent: string;
  limit: string | null;
  raisedUntil?: string | undefined;
}) {
  return (
    <span className="tabular-nums">
      {/* Prefetching would read the activity once for each row of the table. */}
      <Link href={href} prefetch={false} className="rounded-sm underline-offset-4 hover:underline">
        <Money usd={spent} figure="spent" />
      </Link>
      {limit === null ? null : (
        <span className="block whitespace-nowrap text-muted-foreground text-xs">
          of <Money usd={limit} figure="monthly_limit" />
        </span>
      )}
      {raisedUntil === undefined ? null : (
        <span className="block whitespace-nowrap text-muted-foreground text-xs">
          through {formatDay(raisedUntil)}
        </span>
      )}
    </span>
  );
}
