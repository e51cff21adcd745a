import { exactText } from "@/components/amount";
import { Count } from "@/components/count";
import { Money } from "@/components/money";
import { Time } from "@/components/time";
import { Badge } from "@/components/ui/badge";
import type { Repricing } from "./price-view";
import { RefreshWhile } from "./refresh-while";

/** What the latest prices changed in what is recorded; while one is under way, the page keeps up with it. */
export function CorrectionList({ repricings }: { repricings: Repricing[] }) {
  return (
    <>
      <RefreshWhile isRunning={repricings.some(({ status }) => status !== "done")} />
      <ul className="grid text-sm">
        {repricings.map((repricing) => (
          <li key={repricing.id} className="flex items-baseline justify-between gap-x-6 border-t py-2.5">
            <span className="grid min-w-0 gap-0.5">
              <span className="[overflow-wrap:anywhere]">
                <span className="font-medium">{repricing.provider}</span>, {describeRange(repricing)}
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

const dayName = new Intl.DateTimeFormat("en-US", { day: "numeric", month: "short", timeZone: "UTC" });

/** What a correction is of: what had no price, or also what had one, in which days. */
function describeRange({ includes_priced: isOfPriced, from, to }: Repricing): string {
  const what = isOfPriced ? "what was priced before" : "what had no price";
  const first = dayName.format(new Date(from));
  if (to === null) return `${what}, from ${first} on`;
  // It ends before the instant `to`.
  return `${what}, ${first} to ${dayName.format(Date.parse(to) - 1)}`;
}

function Progress({ repricing }: { repricing: Repricing }) {
  const { status, examined_count: examined, changed_count: changed } = repricing;
  if (status === "pending") return <Badge variant="outline">About to begin</Badge>;
  return (
    <>
      {status === "running" ? <Badge variant="outline">Under way</Badge> : null}
      <span>
        <Count value={changed} figure="changed_count" /> of <Count value={examined} /> messages changed
      </span>
    </>
  );
}

/** By how much the total changed, with its sign. */
function Change({ usd }: { usd: string }) {
  const isLess = usd.startsWith("-");
  return (
    <span className="tabular-nums" data-figure="change_usd" data-exact={usd}>
      {Number(usd) === 0 ? "" : isLess ? "−" : "+"}
      <Money usd={isLess ? usd.slice(1) : usd} />
    </span>
  );
}
