import { exactText } from "@/components/amount";
import { Count } from "@/components/count";
import { Delta } from "@/components/delta";
import { activityHref } from "@/components/filters/href";
import { formatUsd, Money } from "@/components/money";
import { Stat, StatList } from "@/components/stat";
import type { SpendView } from "./describe";
import { periodWords } from "./period-words";

const dayName = new Intl.DateTimeFormat("en-US", { month: "short", day: "numeric", timeZone: "UTC" });

/** By how much an amount has grown: for the eye, so a double is enough. Null where there was nothing before. */
export function growthOf(now: number, before: number): number | null {
  return before > 0 ? now / before - 1 : null;
}

/** The figures of a period side by side with those of the one before; each leads to its rows. */
export function SpendStats({ view }: { view: SpendView }) {
  const { metrics, workspace, filter } = view;
  const { totals, previous, forecast_usd: forecast, to } = metrics;
  const words = periodWords(metrics);
  const rows = activityHref(workspace, filter);
  const growth =
    previous && growthOf(Number(exactText(totals.total_usd)), Number(exactText(previous.to_point_usd)));
  return (
    <StatList>
      <Stat
        label={`Spent ${words.soFar}`}
        href={rows}
        note={
          previous && words.pointBefore ? (
            <>
              <Delta fraction={growth ?? null} /> from{" "}
              <Money usd={previous.to_point_usd} figure="previous.to_point_usd" /> {words.pointBefore}
            </>
          ) : null
        }
      >
        <Money usd={totals.total_usd} figure="totals.total_usd" />
      </Stat>
      {previous && words.before ? (
        <Stat
          label={`${words.before} in all`}
          href={activityHref(workspace, { ...filter, period: "range", from: previous.from, to: previous.to })}
          note={<PreviousMessages count={previous.totals.message_count} />}
        >
          <Money usd={previous.totals.total_usd} figure="previous.totals.total_usd" />
        </Stat>
      ) : null}
      {forecast && to ? (
        <Stat
          label={`Forecast to ${dayName.format(new Date(to))}`}
          note="Usage at its pace, the rest as recorded"
        >
          <Money usd={forecast} figure="forecast_usd" />
        </Stat>
      ) : null}
      <Stat label="Messages" href={rows} note={<Kinds totals={totals} />}>
        <Count value={totals.message_count} compact figure="totals.message_count" />
      </Stat>
      {totals.unpriced_count > 0 ? (
        <Stat
          label="Without a price"
          href={activityHref(workspace, { ...filter, cost_status: "unpriced" })}
          note="Lines that count nothing until a price is set"
        >
          <Count value={totals.unpriced_count} compact figure="totals.unpriced_count" />
        </Stat>
      ) : null}
    </StatList>
  );
}

function PreviousMessages({ count }: { count: number }) {
  return (
    <>
      <Count value={count} compact figure="previous.totals.message_count" />{" "}
      {count === 1 ? "message" : "messages"}
    </>
  );
}

/** Subscriptions and expenses, where there are any: the rest is usage. */
function Kinds({ totals }: { totals: SpendView["metrics"]["totals"] }) {
  const kinds = [
    [totals.usage_usd, "usage"],
    [totals.subscription_usd, "subscriptions"],
    [totals.expense_usd, "expenses"],
  ] as const;
  const named = kinds.filter(([usd]) => Number(exactText(usd)) !== 0);
  if (named.length === 0) return null;
  return named.map(([usd, name]) => `${formatUsd(usd)} ${name}`).join(", ");
}
