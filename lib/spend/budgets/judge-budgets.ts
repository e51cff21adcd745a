import type { ClientBase } from "pg";
import { callFunction } from "@/lib/db/query";
import { asService } from "@/lib/db/transaction";
import { compare, divideMoney, multiply, parseDecimal, toText } from "@/lib/decimal";
import { type ComingCharge, loadComingChargesOf } from "@/lib/ledger/recurring/coming";
import { chargesBefore, daysOf, describeMethod, forecastBudget, type UsageOfDay } from "./forecast";

/** Budgets that are judged in one transaction. */
const budgetsAStep = 200;

/** The longest that one run takes, so that the next run of the job is not late. */
const runLimitMs = 20_000;

/** A budget as `private.budgets_to_judge` returns it: USD and percentages as exact text. */
type JudgedBudget = {
  workspace_id: string;
  id: string;
  name: string;
  scope_type: string;
  scope_value: string | null;
  /** Null if the budget has no period now: before its start, or after its end. */
  period_from: string | null;
  period_until: string | null;
  time_zone: string;
  local_ms: string;
  limit_usd: string;
  spent_usd: string;
  booked_usd: string;
  before_usd: string | null;
  forecast_percent: string | null;
  pace_percent: string | null;
  /** By rule, the period of the present state; rules that are OK are missing. */
  known: Partial<Record<BudgetRule, string>>;
};

type BudgetRule = "budget_forecast" | "budget_pace";

type Verdict = {
  workspace_id: string;
  rule: BudgetRule;
  subject_type: "budget";
  subject_id: string;
  period: string;
  state: "ok" | "warning";
  details: Record<string, unknown>;
};

/**
 * Judges the forecast and the pace of budgets whose spend has changed, in all workspaces, and raises the alerts. Does nothing
 * while another process judges. @param at another moment than the present, in tests
 * @returns how many alerts were to be raised. @throws ServiceError unavailable
 */
export async function judgeBudgets(at: Date | null = null): Promise<number> {
  const beganMs = performance.now();
  let raised = 0;
  for (;;) {
    const step = await asService((client) => judgeStep(client, at));
    raised += step.raised;
    if (step.judged < budgetsAStep || performance.now() - beganMs > runLimitMs) return raised;
  }
}

async function judgeStep(client: ClientBase, at: Date | null): Promise<{ judged: number; raised: number }> {
  if (!(await callFunction<boolean>(client, "private.lock_alert_rules", "budgets")))
    return { judged: 0, raised: 0 };
  const moment = at ?? (await callFunction<Date>(client, "clock_timestamp"));
  const budgets = await callFunction<JudgedBudget[]>(
    client,
    "private.budgets_to_judge",
    moment,
    budgetsAStep,
  );
  const usage = await callFunction<UsageOfDay[]>(
    client,
    "private.usage_of_budgets",
    budgets.map(({ id }) => id),
    daysOf(budgets),
  );
  const before = chargesBefore(budgets);
  const workspaces = [...new Set(budgets.map((budget) => budget.workspace_id))];
  const charges = before ? await loadComingChargesOf(client, workspaces, before, moment.getTime()) : [];
  const gone = await callFunction<unknown[]>(client, "private.judge_gone_budgets");
  const verdicts = [...gone, ...budgets.flatMap((budget) => judgeBudget(budget, usage, charges))];
  if (verdicts.length === 0) return { judged: budgets.length, raised: 0 };
  const raised = await callFunction<number>(client, "private.settle_alert_states", JSON.stringify(verdicts));
  return { judged: budgets.length, raised };
}

/** Whether a rule is broken, with its figures. */
type Found = { is_over: boolean } & Record<string, unknown>;

/** The states of a budget by rule. A state of OK is included only if the previous one was not OK. */
function judgeBudget(budget: JudgedBudget, usage: UsageOfDay[], charges: ComingCharge[]): Verdict[] {
  const judged: [BudgetRule, Found | null | "keep"][] = [
    ["budget_forecast", judgeForecast(budget, usage, charges)],
    ["budget_pace", judgePace(budget)],
  ];
  return judged.flatMap(([rule, found]): Verdict[] => {
    const known = budget.known[rule];
    if (found === "keep" && known === budget.period_from) return [];
    const { is_over: isOver = false, ...figures } = found === null || found === "keep" ? {} : found;
    if (!isOver && known === undefined) return [];
    return [
      {
        workspace_id: budget.workspace_id,
        rule,
        subject_type: "budget",
        subject_id: budget.id,
        // A budget without a present period is over. A period that differs from the alert's ends the alert.
        period: budget.period_from ?? "0001-01-01",
        state: isOver ? "warning" : "ok",
        details: { ...contextOf(budget), ...figures },
      },
    ];
  });
}

function contextOf(budget: JudgedBudget) {
  const { name, scope_type, scope_value, limit_usd, spent_usd, period_from, period_until, time_zone } =
    budget;
  return {
    ...{ subject: name, scope_type, scope_value, amount_usd: limit_usd, spent_usd },
    ...{ period_from, period_until, time_zone },
  };
}

/** A share in percent with two decimals. */
function percentOf(part: string, whole: string): string {
  const share = divideMoney(multiply(parseDecimal(part), parseDecimal("10000")), parseDecimal(whole));
  return String(Math.round(Number(toText(share))) / 100);
}

/**
 * Whether the forecast is over the limit, with its figures. `keep`: the present state stays, because spend has reached the
 * limit and the thresholds alert about that. Null: too little usage is known, or the rule is off.
 */
function judgeForecast(
  budget: JudgedBudget,
  usage: UsageOfDay[],
  charges: ComingCharge[],
): Found | null | "keep" {
  const { period_from: from, period_until: until, limit_usd: limit, forecast_percent: percent } = budget;
  if (from === null || until === null || percent === null) return null;
  const forecast = forecastBudget(
    { ...budget, period_from: from, period_until: until, spent: budget.spent_usd },
    usage,
    charges.filter((charge) => charge.workspaceId === budget.workspace_id),
  );
  if (!forecast) return null;
  if (compare(parseDecimal(budget.spent_usd), parseDecimal(limit)) >= 0) return "keep";
  const total = multiply(forecast.total, parseDecimal("100"));
  return {
    is_over: compare(total, multiply(parseDecimal(limit), parseDecimal(percent))) > 0,
    forecast_usd: toText(forecast.total),
    percent: percentOf(toText(forecast.total), limit),
    method: describeMethod(forecast),
    data_days: forecast.daysCompared,
  };
}

/** The least share of the period and of the limit for which a pace is judged. */
const leastShare = 0.1;

/** Whether spend is far above that at the same point of the last period, with its figures; null as for the forecast. */
function judgePace(budget: JudgedBudget): Found | null {
  const { before_usd: before, spent_usd: spent, pace_percent: percent } = budget;
  const { period_from: from, period_until: until, limit_usd: limit } = budget;
  if (from === null || until === null || percent === null || before === null) return null;
  const [begins, ends] = [Date.parse(from), Date.parse(until)];
  const isEarly = Number(budget.local_ms) - begins < (ends - begins) * leastShare;
  const isLittle = Number(spent) < Number(limit) * leastShare;
  if (isEarly || compare(parseDecimal(before), parseDecimal("0")) <= 0) return null;
  const isAbove =
    compare(
      multiply(parseDecimal(spent), parseDecimal("100")),
      multiply(parseDecimal(before), parseDecimal(percent)),
    ) >= 0;
  return { is_over: isAbove && !isLittle, before_usd: before, percent: percentOf(spent, before) };
}
