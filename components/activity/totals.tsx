import { toNumber } from "@/components/figures/amount";
import { Count } from "@/components/figures/count";
import { plural } from "@/components/figures/format-count";
import { formatMonthAndYear } from "@/components/figures/format-date";
import { Money } from "@/components/figures/money";
import { Time } from "@/components/figures/time";
import { hrefWith, type SearchParams } from "@/components/filters/href";
import { Link } from "@/components/ui/link";
import type { Metrics } from "@/lib/contract/spend/metrics";
import type { SessionItem } from "./session";

/** The sums of all rows that match the filters, over all pages: what is spent up to today, and what is booked ahead. */
export function Totals({
  totals,
  booked_ahead: ahead,
  path,
  params,
}: Pick<Metrics, "totals" | "booked_ahead"> & {
  path: string;
  params: SearchParams;
}) {
  const { total_usd, message_count: messages, unpriced_count: unpriced } = totals;
  const kinds = [
    { label: "Usage", figure: "totals.usage_usd", usd: totals.usage_usd },
    { label: "Subscriptions", figure: "totals.subscription_usd", usd: totals.subscription_usd },
    { label: "Expenses", figure: "totals.expense_usd", usd: totals.expense_usd },
    ...(toNumber(totals.adjustment_usd) === 0
      ? []
      : [{ label: "Bill adjustments", figure: "totals.adjustment_usd", usd: totals.adjustment_usd }]),
  ];
  return (
    <div>
      <p className="text-lg">
        <Money usd={total_usd} figure="totals.total_usd" className="font-semibold" />{" "}
        <span className="text-muted-foreground">
          in <Count value={messages} figure="totals.message_count" /> {plural(messages, "message")}
        </span>
      </p>
      <dl className="flex flex-wrap gap-x-4 gap-y-1 text-muted-foreground text-sm">
        {(messages === 0 ? [] : kinds).map(({ label, figure, usd }) => (
          <div key={figure} className="flex gap-1.5">
            <dt>{label}</dt>
            <dd className="text-foreground">
              <Money usd={usd} figure={figure} />
            </dd>
          </div>
        ))}
        {toNumber(totals.included_usd) > 0 ? (
          <div className="flex gap-1.5">
            <dt>Covered by subscriptions</dt>
            <dd className="text-foreground">
              <Money usd={totals.included_usd} figure="totals.included_usd" />
            </dd>
          </div>
        ) : null}
        {ahead ? (
          <div className="flex gap-1.5">
            <dt>Booked ahead until {formatMonthAndYear(ahead.to)}</dt>
            <dd className="text-foreground">
              <Money usd={ahead.total_usd} figure="booked_ahead.total_usd" />
            </dd>
          </div>
        ) : null}
        {unpriced > 0 ? (
          <div className="flex gap-1.5">
            <dt>No price yet</dt>
            <dd>
              <Link
                href={hrefWith(path, params, { cost_status: "unpriced" })}
                className="text-warning underline underline-offset-4"
              >
                <Count value={unpriced} figure="totals.unpriced_count" /> {plural(unpriced, "line")}
              </Link>
            </dd>
          </div>
        ) : null}
      </dl>
    </div>
  );
}

/** The total of a session, shown if the rows are those of one session. */
export function SessionTotal({ usd, calls, to, models }: SessionItem) {
  return (
    <div>
      <p className="text-lg">
        <span className="text-muted-foreground">This session cost</span>{" "}
        <Money usd={usd} figure="sessions.amount_usd" className="font-semibold" />{" "}
        <span className="text-muted-foreground">
          in <Count value={calls} figure="sessions.call_count" /> {plural(calls, "call")}
        </span>
      </p>
      <p className="text-muted-foreground text-sm">
        {models === "" ? null : `${models} · `}latest call <Time at={to} />
      </p>
    </div>
  );
}
