import { dayOf } from "@/lib/contract/instant";
import { parseDecimal } from "@/lib/ledger/pricing/decimal";
import { type Forecast, forecastSpend, toUsage, usageDays } from "@/lib/spend/forecast";
import { addDays, countDays } from "@/lib/spend/period";

/** A budget's present period and what is spent of it, USD as exact text; `local_ms` as in `BudgetRow`. */
export type ForecastedBudget = {
  id: string;
  period_from: string;
  period_until: string;
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
 * Forecasts a budget's present period; the one place that decides how. Its days are those of its time zone, their usage is
 * summed by UTC days.
 * @param usage of this and other budgets, on `daysOf` them
 * @returns null where there is too little to go by
 */
export function forecastBudget(budget: ForecastedBudget, usage: UsageOfDay[]): Forecast | null {
  return forecastSpend({
    range: { from: budget.period_from, until: budget.period_until },
    today: todayOf(budget),
    recorded: parseDecimal(budget.spent),
    usage: toUsage(usage.filter(({ id }) => id === budget.id)),
  });
}

/** How a forecast was worked out, in words. */
export function describeMethod({ daysLeft, daysCompared }: Forecast): string {
  return `What is recorded and booked, and for each of the ${daysLeft} days left, with today, the median usage of the same weekdays in the last ${daysCompared} days. Expenses and allocations are not extrapolated.`;
}
