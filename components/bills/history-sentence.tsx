import { History } from "lucide-react";
import { type Amount, toNumber } from "@/components/figures/amount";
import { formatMoney } from "@/components/figures/money";
import { Link } from "@/components/ui/link";

/**
 * Says how much of a page's figures is billed history, with the switch that leaves it out or shows it.
 * @param props.total that of the shown days @param props.before that of the days compared with
 * @param props.href the address of the page with the switch changed
 */
export function HistorySentence({
  total,
  before,
  isCounted,
  href,
}: {
  total: Amount;
  before: Amount;
  isCounted: boolean;
  href: string;
}) {
  const figures = [
    ...(toNumber(total) === 0 ? [] : [`${formatMoney(total)} in the days shown`]),
    ...(toNumber(before) === 0 ? [] : [`${formatMoney(before)} in the days compared with`]),
  ].join(" and ");
  if (figures === "") return null;
  return (
    <p className="flex gap-2 text-sm">
      <History aria-hidden="true" className="mt-0.5 size-4 shrink-0 text-muted-foreground" />
      <span>
        {isCounted ? "Includes" : "Leaves out"} billed history: {figures}, which providers billed for days on
        which nothing was recorded of them.{" "}
        <Link href={href} scroll={false} replace prefetch={false} className="underline underline-offset-4">
          {isCounted ? "Leave it out" : "Include it"}
        </Link>
      </span>
    </p>
  );
}
