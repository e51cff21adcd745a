/** What a budget is about, as its row has it. Days are `YYYY-MM-DD`. */
export type ModelBudget = {
  scope_type: "global" | "project" | "provider" | "model" | "feature" | "user" | "tag";
  scope_value: string | null;
  period: "day" | "week" | "month" | "quarter" | "year" | "once";
  week_start: number;
  time_zone: string;
  starts_on: string | null;
  ends_on: string | null;
  amount_cents: number;
  alert_percents: number[];
  alert_cents: number[];
};

/** A recorded posting, as budgets see it. */
export type ModelPosting = {
  occurred_at: string;
  type: "usage" | "expense";
  cents: number;
  project_id: string;
  provider: string | null;
  model: string | null;
  feature: string | null;
  end_user: string | null;
  tags: string[] | null;
};

/** The calendar day of an instant in a time zone, by the JavaScript engine's own time zone data. */
export function localDay(zone: string, at: number): string {
  return new Intl.DateTimeFormat("sv-SE", { timeZone: zone, dateStyle: "short" }).format(at);
}

const utc = (day: string) => new Date(`${day}T00:00:00Z`);
const dayOf = (date: Date) => date.toISOString().slice(0, 10);

/** The first day of the period of a day; undefined where the budget does not count it. */
export function periodOf(budget: ModelBudget, day: string): string | undefined {
  if ((budget.starts_on && day < budget.starts_on) || (budget.ends_on && day > budget.ends_on))
    return undefined;
  const [year = "", month = ""] = day.split("-");
  if (budget.period === "once") return budget.starts_on ?? undefined;
  if (budget.period === "day") return day;
  if (budget.period === "month") return `${year}-${month}-01`;
  if (budget.period === "year") return `${year}-01-01`;
  if (budget.period === "quarter") {
    return `${year}-${String(Math.floor((Number(month) - 1) / 3) * 3 + 1).padStart(2, "0")}-01`;
  }
  const date = utc(day);
  while ((date.getUTCDay() || 7) !== budget.week_start) date.setUTCDate(date.getUTCDate() - 1);
  return dayOf(date);
}

/** Whether a posting is in the scope of a budget. */
export function isInScope(
  { scope_type: type, scope_value: value }: ModelBudget,
  posting: ModelPosting,
): boolean {
  if (type === "global") return true;
  if (type === "project") return posting.project_id === value;
  if (type === "provider") return posting.provider?.toLowerCase() === value?.toLowerCase();
  if (type === "user") return posting.end_user === value;
  if (type === "tag") return posting.tags?.includes(value ?? "") ?? false;
  return posting[type] === value;
}

/** The cents that are spent in each period of a budget, by the period's first day. */
export function spentByPeriod(budget: ModelBudget, postings: ModelPosting[]): Map<string, number> {
  const sums = new Map<string, number>();
  for (const posting of postings) {
    const period = periodOf(budget, localDay(budget.time_zone, Date.parse(posting.occurred_at)));
    if (period === undefined || !isInScope(budget, posting)) continue;
    sums.set(period, (sums.get(period) ?? 0) + posting.cents);
  }
  return sums;
}

/** The levels that a spend in cents has reached, as alerts name them. */
export function reachedLevels(budget: ModelBudget, spent: number): string[] {
  return [
    ...budget.alert_percents.filter((percent) => spent * 100 >= budget.amount_cents * percent).map(String),
    ...budget.alert_cents.filter((cents) => spent >= cents).map((cents) => `$${cents / 100}`),
  ];
}

/** The period that a budget shows now: while it has not begun its first, after its end its last. */
export function presentPeriod(model: ModelBudget): string | undefined {
  const today = localDay(model.time_zone, Date.now());
  const shown = model.starts_on && today < model.starts_on ? model.starts_on : today;
  return periodOf(model, model.ends_on && shown > model.ends_on ? model.ends_on : shown);
}
