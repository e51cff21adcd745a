import { exactText } from "@/components/figures/amount";
import { Count } from "@/components/figures/count";
import { formatDay } from "@/components/figures/format-date";
import { formatSignedMoney } from "@/components/figures/money";
import { Time } from "@/components/figures/time";
import { Badge } from "@/components/ui/badge";
import type { Repricing } from "./price-view";
import { RefreshWhile } from "./refresh-while";

/** The corrections that new prices caused, with their progress and the change in USD. Updates itself while one is running. */
export function CorrectionList({ repricings }: { repricings: Repricing[] }) {
  return (
    <>
      <RefreshWhile isRunning={repricings.some(({ status }) => status !== "done")} />
      <ul className="grid text-sm">
        {repricings.map((repricing) => (
          <li key={repricing.id} className="flex items-baseline justify-between gap-x-6 border-t py-2.5">
            <span className="grid min-w-0 gap-0.5">
              <span className="[overflow-wrap:anywhere]">
                <span className="font-medium">{repricing.provider}</span>, {formatRange(repricing)}
              </span>
              <span className="flex flex-wrap items-baseline gap-x-2 gap-y-1 text-muted-foreground text-xs">
                <Progress repricing={repricing} />
                <Time at={repricing.created_at} />
              </span>
            </span>
            <Change usd={exactText(repricing.change_usd)} />
          </li>
        ))}
      </ul>
    </>
  );
}

/** Says which usage is corrected, on which days: "usage without a price, Nov 1 to Nov 20". */
function formatRange({ includes_priced: isOfPriced, from, to }: Repricing): string {
  const what = isOfPriced ? "usage that had a price" : "usage without a price";
  const first = formatDay(from);
  if (to === null) return `${what}, from ${first} on`;
  // `to` is exclusive.
  return `${what}, ${first} to ${formatDay(Date.parse(to) - 1)}`;
}

function Progress({ repricing }: { repricing: Repricing }) {
  const { status, examined_count: examined, changed_count: changed } = repricing;
  if (status === "pending") return <Badge variant="outline">Waiting</Badge>;
  return (
    <>
      {status === "running" ? <Badge variant="outline">Running</Badge> : null}
      <span>
        <Count value={changed} figure="changed_count" /> of <Count value={examined} /> messages changed
      </span>
    </>
  );
}

/** The change of the total in USD, with its sign. */
function Change({ usd }: { usd: string }) {
  return (
    <span className="tabular-nums" title={`$${usd}`} data-figure="change_usd" data-exact={usd}>
      {formatSignedMoney(usd)}
    </span>
  );
}
