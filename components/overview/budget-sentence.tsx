import { CircleAlert, CircleCheck, TriangleAlert } from "lucide-react";
import Link from "next/link";
import type { Amount } from "@/components/amount";
import { formatPercent, isAtLeastOne } from "@/components/format-percent";

/** A budget with the fraction of it that is spent. */
export type BudgetState = { id: string; name: string; percent_used: Amount; alert: boolean };

const names = new Intl.ListFormat("en-US");
const listStates = (budgets: BudgetState[]) =>
  names.format(budgets.map((budget) => `${budget.name} (${formatPercent(budget.percent_used)})`));

/**
 * A sentence that says whether any budget is used up or close to its limit, with an icon that says the same.
 * @param props.href address of the budgets, which the sentence links to; undefined on the page of the budgets itself
 */
export function BudgetSentence({ budgets, href }: { budgets: BudgetState[]; href?: string }) {
  if (!href) return <Sentence budgets={budgets} />;
  return (
    <Link href={href} prefetch={false} className="w-fit rounded-sm hover:underline">
      <Sentence budgets={budgets} />
    </Link>
  );
}

const isOver = ({ percent_used: used }: BudgetState) => isAtLeastOne(used);

function Sentence({ budgets }: { budgets: BudgetState[] }) {
  const over = budgets.filter(isOver);
  const close = budgets.filter((budget) => budget.alert && !isOver(budget));
  if (budgets.length === 0) return <span className="text-muted-foreground">There is no budget yet.</span>;
  if (over.length === 0 && close.length === 0) {
    return (
      <Line icon={<CircleCheck className="text-success" aria-hidden="true" />}>
        {budgets.length === 1 ? "The budget holds" : `All ${budgets.length} budgets hold`}:{" "}
        {listStates(budgets)}.
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
          {over.length === 1 ? "One budget is" : `${over.length} budgets are`} used up: {listStates(over)}.{" "}
        </span>
      ) : null}
      {close.length > 0 ? (
        <span className="text-warning">Close to the limit: {listStates(close)}. </span>
      ) : null}
      {over.length + close.length < budgets.length ? "The rest hold." : null}
    </Line>
  );
}

function Line({ icon, children }: { icon: React.ReactNode; children: React.ReactNode }) {
  return (
    <span className="flex gap-2 [&_svg]:mt-1 [&_svg]:size-4 [&_svg]:shrink-0">
      {icon}
      <span>{children}</span>
    </span>
  );
}
