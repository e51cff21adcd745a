import { z } from "zod";

/** The figures of a budget's threshold when it was crossed; money is exact decimal text, USD. */
const budgetDetails = z.object({
  budget: z.string(),
  scope_type: z.string(),
  scope_value: z.string().nullish(),
  /** The threshold as a share of the limit. */
  percent: z.string(),
  threshold_usd: z.string().optional(),
  amount_usd: z.string(),
  spent_usd: z.string(),
  period_from: z.iso.date(),
  /** The first day after the period. */
  period_until: z.iso.date(),
});
export type BudgetDetails = z.output<typeof budgetDetails>;

/** An alert as `private.raise_alerts` recorded it. */
export type Alert = {
  id: string;
  rule: "budget_threshold";
  level: string;
  period: string;
  subject_type: "budget";
  subject_id: string;
  details: unknown;
  fired_at: string;
  /** The slug of the project that the budget is limited to, while there is one. */
  project_slug: string | null;
};

/** The figures of an alert. @throws Error where the alert was recorded without them */
export function readDetails({ details }: Pick<Alert, "details">): BudgetDetails {
  return budgetDetails.parse(details);
}

/** The last day of a period. @param until the first day after it, `YYYY-MM-DD` */
export function lastDay(until: string): string {
  return new Date(Date.parse(until) - 86_400_000).toISOString().slice(0, 10);
}

/** The address of the budgets page, at one budget. @param base the service's address, or empty for a path */
export function budgetUrl(base: string, workspace: string, budgetId: string): string {
  return `${base}/${workspace}/budgets#budget-${encodeURIComponent(budgetId)}`;
}

/** The address of the rows that a budget counted in the alert's period. @param base as for `budgetUrl` */
export function activityUrl(
  base: string,
  workspace: string,
  { details, project_slug: project }: Pick<Alert, "details" | "project_slug">,
): string {
  const {
    scope_type: type,
    scope_value: value,
    period_from: from,
    period_until: until,
  } = readDetails({ details });
  const scope = type === "project" ? project : value;
  const isFilter = ["project", "feature", "provider", "model", "key", "user", "tag"].includes(type);
  const query = new URLSearchParams({ period: "range", from, to: lastDay(until), environment: "live" });
  if (isFilter && scope) query.set(type, scope);
  return `${base}/${workspace}/activity?${query}`;
}
