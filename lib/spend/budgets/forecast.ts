import { parseDecimal, subtract } from "@/lib/ledger/pricing/decimal";
import { type Pace, paceOf } from "@/lib/spend/pace";

/** A budget's present period and what is spent of it, USD as exact text; `local_ms` as in `BudgetRow`. */
export type ForecastedBudget = {
  period_from: string;
  period_until: string;
  local_ms: string;
  spent: string;
  /** The part of `spent` from subscriptions and expenses. */
  booked: string;
};

const dayMs = 86_400_000;

/** A forecast with how it was worked out, in words, and from how many whole days of the period. */
export type BudgetForecast = Pace & { method: string; dataDays: number };

/** Forecasts a budget's period; the one place that decides how. @returns null where there is too little to go by */
export function forecastBudget(budget: ForecastedBudget): BudgetForecast | null {
  const booked = parseDecimal(budget.booked);
  const usage = subtract(parseDecimal(budget.spent), booked);
  const now = Number(budget.local_ms);
  const pace = paceOf({ usage, booked }, { from: budget.period_from, until: budget.period_until }, now);
  if (!pace) return null;
  const start = Date.parse(budget.period_from);
  const dataDays = Math.floor((now - start) / dayMs);
  const allDays = Math.round((Date.parse(budget.period_until) - start) / dayMs);
  const method = `The usage of ${dataDays} ${dataDays === 1 ? "day" : "days"} so far, extended to the ${allDays} days of the period; subscriptions and expenses are added once.`;
  return { ...pace, method, dataDays };
}
