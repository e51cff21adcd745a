import type { z } from "zod";
import { addDays } from "@/components/figures/utc-day";
import { activityHref } from "@/components/filters/href";
import { readerZone } from "@/components/reader/by-reader";
import type { budget as budgetSchema } from "@/lib/contract/spend/budgets";

type Budget = z.output<typeof budgetSchema>;

/** The address of the rows that a budget counts: live messages of its period in its scope. */
export function budgetRowsHref(workspace: string, { scope: { type, value }, ...budget }: Budget): string {
  const filter = type === "global" ? {} : { [type]: value };
  const period =
    budget.period === "month" && budget.time_zone === readerZone()
      ? { period: "month" }
      : { period: "range", from: budget.period_from, to: addDays(budget.period_until, -1) };
  return activityHref(workspace, { ...period, environment: "live", ...filter });
}
