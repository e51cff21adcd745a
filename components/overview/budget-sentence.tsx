import { CircleAlert, CircleCheck, TriangleAlert } from "lucide-react";
import { formatPercent } from "./headline";

/** A budget with the part of it that is spent. */
export type BudgetState = { id: string; name: string; percentUsed: string; alert: boolean };

const names = new Intl.ListFormat("en-US");
const listStates = (budgets: BudgetState[]) =>
  names.format(budgets.map(({ name, percentUsed }) => `${name} (${formatPercent(percentUsed)})`));

/** Whether the budgets hold, in a sentence; the sign before it says the same without colour. */
export function BudgetSentence({ budgets }: { budgets: BudgetState[] }) {
  const over = budgets.filter(({ percentUsed }) => Number(percentUsed) >= 1);
  const close = budgets.filter(({ percentUsed, alert }) => alert && Number(percentUsed) < 1);
  if (budgets.length === 0) return <p className="text-muted-foreground">There is no budget yet.</p>;
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
    <p className="flex gap-2 [&_svg]:mt-1 [&_svg]:size-4 [&_svg]:shrink-0">
      {icon}
      <span>{children}</span>
    </p>
  );
}
