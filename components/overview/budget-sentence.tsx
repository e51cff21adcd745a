import { CircleAlert, CircleCheck, TriangleAlert } from "lucide-react";
import { Fragment } from "react";
import { type Amount, toNumber } from "@/components/figures/amount";
import { formatCount, formatNumber } from "@/components/figures/format-count";
import { listParts } from "@/components/figures/format-list";
import { formatPercent, isAtLeastOne } from "@/components/figures/format-percent";
import { Link } from "@/components/ui/link";

/** A budget with the fraction of its limit that is spent. */
export type BudgetState = { id: string; name: string; percent_used: Amount; alert: boolean };

/** The budgets that a sentence names; the others are counted. */
const named = 3;

const isOver = ({ percent_used: used }: BudgetState) => isAtLeastOne(used);
const byUse = (a: BudgetState, b: BudgetState) => toNumber(b.percent_used) - toNumber(a.percent_used);

/** The worst budgets by name, with the count of the others: "Chat (103%), Search (101%), and 4 others". */
function Worst({ budgets }: { budgets: BudgetState[] }) {
  const worst = [...budgets].sort(byUse).slice(0, named);
  const others = budgets.length - worst.length;
  return listParts(worst.length + (others > 0 ? 1 : 0)).map((part) => {
    if (typeof part === "string") return part;
    const budget = worst[part];
    if (!budget) return formatCount(others, "other");
    return (
      <Fragment key={budget.id}>
        <bdi>{shorten(budget.name)}</bdi> ({formatPercent(budget.percent_used)})
      </Fragment>
    );
  });
}

/** The most characters of a name in a sentence. */
const longest = 40;

const shorten = (name: string) => {
  const characters = [...name];
  return characters.length > longest ? `${characters.slice(0, longest - 1).join("")}…` : name;
};

/**
 * A sentence that says whether any budget is used up or close to its limit, with a matching icon. It names the three worst.
 * @param props.href address of the budgets, which the sentence links to; undefined on the page of the budgets itself
 */
export function BudgetSentence({ budgets, href }: { budgets: BudgetState[]; href?: string }) {
  const isCrowded = budgets.filter((budget) => budget.alert || isOver(budget)).length > named;
  if (!href) return <Sentence budgets={budgets} />;
  return (
    <div className="grid justify-items-start gap-1">
      <Link href={href} prefetch={false} className="w-fit rounded-sm hover:underline">
        <Sentence budgets={budgets} />
      </Link>
      {isCrowded ? (
        <Link
          href={href}
          prefetch={false}
          className="ml-6 rounded-sm text-muted-foreground text-sm underline underline-offset-4"
        >
          See all {formatCount(budgets.length, "budget")}
        </Link>
      ) : null}
    </div>
  );
}

function Sentence({ budgets }: { budgets: BudgetState[] }) {
  const over = budgets.filter(isOver);
  const close = budgets.filter((budget) => budget.alert && !isOver(budget));
  const others = budgets.length - over.length - close.length;
  if (budgets.length === 0) return <span className="text-muted-foreground">No budgets yet.</span>;
  if (over.length === 0 && close.length === 0) {
    return (
      <Line icon={<CircleCheck className="text-success" aria-hidden="true" />}>
        {budgets.length === 1 ? "Within budget" : `All ${formatNumber(budgets.length)} budgets are on track`}:{" "}
        <Worst budgets={budgets} />.
      </Line>
    );
  }
  return (
    <Line
      icon={
        over.length > 0 ? (
          <CircleAlert className="text-destructive" aria-hidden="true" />
        ) : (
          <TriangleAlert className="text-warning" aria-hidden="true" />
        )
      }
    >
      {over.length > 0 ? (
        <span className="font-medium text-destructive">
          {over.length === 1 ? "1 budget is" : `${formatNumber(over.length)} budgets are`} used up:{" "}
          <Worst budgets={over} />.{" "}
        </span>
      ) : null}
      {close.length > 0 ? (
        <span className="text-warning">
          Close to the limit:{" "}
          {over.length >= named ? formatCount(close.length, "budget") : <Worst budgets={close} />}.{" "}
        </span>
      ) : null}
      {others > 0 ? `${formatCount(others, "other")} ${others === 1 ? "is" : "are"} on track.` : null}
    </Line>
  );
}

function Line({ icon, children }: { icon: React.ReactNode; children: React.ReactNode }) {
  return (
    <span className="flex gap-2 [&_svg]:mt-1 [&_svg]:size-4 [&_svg]:shrink-0">
      {icon}
      <span className="min-w-0 [overflow-wrap:anywhere]">{children}</span>
    </span>
  );
}
