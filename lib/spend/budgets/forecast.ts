import { dayOf } from "@/lib/contract/values/instant";
import { parseDecimal } from "@/lib/decimal";
import type { ComingCharge } from "@/lib/ledger/recurring/coming";
import { isSameProvider } from "@/lib/spend/activity/filters";
import { type Forecast, forecastSpend, toUsage, usageDays } from "@/lib/spend/forecast";
import { addDays, countDays } from "@/lib/spend/period";

/** A budget's present period and its spend, USD as exact text; `local_ms` as in `BudgetRow`. */
export type ForecastedBudget = {
  id: string;
  scope_type: string;
  scope_value: string | null;
  period_from: string;
  period_until: string;
  time_zone: string;
  local_ms: string;
  spent: string;
};

/** What usage of a budget's scope cost on a day, USD as exact text. */
export type UsageOfDay = { id: string; day: string; amount: string };

/** The present day of a budget's time zone. */
const todayOf = ({ local_ms: localMs }: { local_ms: string }) => dayOf(Number(localMs));

/** The days whose usage the forecasts of some budgets need, `YYYY-MM-DD`. */
export function daysOf(budgets: { local_ms: string }[]): string[] {
  const todays = budgets.map(todayOf).sort();
  const [first, last] = [todays[0], todays.at(-1)];
  if (first === undefined || last === undefined) return [];
  const range = { from: usageDays(first).from, until: usageDays(last).until };
  return Array.from({ length: countDays(range) }, (_, index) => addDays(range.from, index));
}

/**
 * Forecasts a budget's present period; pages, the API and alerts all use this function. The period's days are those of the
 * budget's time zone, but usage is summed by the days of the workspace.
 * @param usage of this and other budgets, for the days that `daysOf` returns
 * @param charges of the budget's workspace that are not booked yet
 * @returns null if too little usage is known
 */
export function forecastBudget(
  budget: ForecastedBudget,
  usage: UsageOfDay[],
  charges: ComingCharge[],
): Forecast | null {
  const range = { from: budget.period_from, until: budget.period_until };
  const inZone = new Intl.DateTimeFormat("sv-SE", { timeZone: budget.time_zone, dateStyle: "short" });
  return forecastSpend({
    range,
    today: todayOf(budget),
    recorded: parseDecimal(budget.spent),
    usage: toUsage(usage.filter(({ id }) => id === budget.id)),
    coming: charges.flatMap((charge) => {
      if (!isOfBudget(charge, budget)) return [];
      const day = inZone.format(new Date(charge.at));
      return day >= range.from && day < range.until ? [{ day, amount: charge.amount }] : [];
    }),
  });
}

/** Whether a charge counts in a budget. A recurring charge has no model, feature, key or person. */
function isOfBudget(
  charge: ComingCharge,
  { scope_type: type, scope_value: value }: ForecastedBudget,
): boolean {
  if (type === "global") return true;
  if (type === "project") return charge.projectId === value;
  if (type === "provider") return value !== null && isSameProvider(charge.provider, value);
  return type === "tag" && value !== null && charge.tags.includes(value);
}

/** The UTC day before which all charges of some budgets' present periods lie: time zones differ from UTC by at most a day. */
export function chargesBefore(budgets: { period_until: string | null }[]): string | undefined {
  const last = budgets
    .flatMap(({ period_until: until }) => until ?? [])
    .sort()
    .at(-1);
  return last && addDays(last, 1);
}

/** Describes in words how a forecast was made. */
export function describeMethod({ daysLeft, daysCompared }: Forecast): string {
  return `What is recorded and booked, the recurring subscriptions that are due, and for each of the ${daysLeft} days left, with today, the median usage of the same weekdays in the last ${daysCompared} days, moved along its trend. Expenses and allocations are not extrapolated.`;
}
