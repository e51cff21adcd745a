import { formatNumber } from "@/components/figures/format-count";
import { formatDate } from "@/components/figures/format-date";
import { addDays } from "@/components/figures/utc-day";
import { nameDays } from "@/components/filters/range";
import { Alert } from "@/components/ui/alert";
import { Link } from "@/components/ui/link";
import { maxSpendDays } from "@/lib/contract/spend/spend-query";
import { type ExploreState, exploreHref } from "./state";

/**
 * Says from which day costs are shown, if there are earlier ones, with a link to the days before.
 * @param props.first the first day with a cost
 * @param props.from the first day that is shown
 */
export function EarlierCosts({
  workspace,
  state,
  first,
  from,
}: {
  workspace: string;
  state: ExploreState;
  first: string;
  from: string;
}) {
  const to = addDays(from, -1);
  const longest = addDays(from, -maxSpendDays);
  const days = { period: "range", from: first < longest ? longest : first, to };
  return (
    <Alert className="mb-6">
      Explore shows at most {formatNumber(maxSpendDays)} days, so costs are shown from {formatDate(from)} on.
      The first cost occurred on {formatDate(first)}. To see earlier costs,{" "}
      <Link
        href={exploreHref(workspace, { ...state, days })}
        prefetch={false}
        className="rounded-sm underline underline-offset-4"
      >
        show {nameDays(days.from, days.to)}
      </Link>{" "}
      or choose other days in the calendar.
    </Alert>
  );
}

/** Says why an answer is not compared with the chosen days. @param props.reason the service's message, with the field */
export function NotCompared({
  days: { from, to },
  reason,
}: {
  days: { from: string; to: string };
  reason: string;
}) {
  const isTooLong = addDays(from, maxSpendDays) <= to;
  return (
    <Alert variant="warning" className="mb-6">
      This is not compared with {nameDays(from, to)}.{" "}
      {isTooLong
        ? `Explore reads at most ${formatNumber(maxSpendDays)} days.`
        : reason.replace(/^from: /, "Its first day ")}
    </Alert>
  );
}
