import { CircleAlert, TriangleAlert } from "lucide-react";
import type { Amount } from "@/components/figures/amount";
import { isAtLeastOne } from "@/components/figures/format-percent";
import { Badge } from "@/components/ui/badge";

/** The fields of a budget that its badge depends on. */
type BudgetState = { percent_used: Amount; blocks: boolean; alert: boolean };

/** Whether the limit is used up. `percent_used` is a fraction of it: 1 is the whole limit. */
export const isUsedUp = ({ percent_used: used }: { percent_used: Amount }) => isAtLeastOne(used);

/** A badge that says what the colour of the meter means; none while the budget is not close to its limit. */
export function StateBadge({ budget }: { budget: BudgetState }) {
  if (isUsedUp(budget)) {
    return (
      <Badge variant="destructive">
        <CircleAlert aria-hidden="true" className="size-3" />
        {budget.blocks ? "Used up, refusing costs" : "Used up"}
      </Badge>
    );
  }
  if (!budget.alert) return null;
  return (
    <Badge variant="warning">
      <TriangleAlert aria-hidden="true" className="size-3" />
      Close to the limit
    </Badge>
  );
}
