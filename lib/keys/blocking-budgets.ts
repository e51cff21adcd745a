import { ExactNumber } from "@/lib/contract/values/exact-number";
import { add, compare, type Decimal, parseDecimal, subtract, toText, zero } from "@/lib/decimal";
import { ServiceError } from "@/lib/errors";
import { serviceAddress } from "@/lib/service-address";
import type { ApiKey } from "./api-key";

/** A period as `private.budget_periods` returns it: days, milliseconds since 1970, exact text in USD. */
export type BudgetPeriodRow = {
  budget_id: string;
  from: string;
  until: string;
  starts_at: number;
  ends_at: number;
  limit_usd: string;
  spent_usd: string;
};

/** A budget as `private.load_blocking_budgets` returns it, with its present period if it counts now. */
export type BlockingBudgetRow = {
  id: string;
  workspace_id: string;
  name: string;
  scope_type: BudgetScope;
  /** The id of the project or key, or the name of another scope (of a provider in lower case); empty for all spend. */
  scope_key: string;
  time_zone: string;
  /** The instants between which it counts, milliseconds since 1970; null for no end. */
  counts_from: number;
  counts_until: number | null;
  period: BudgetPeriodRow | null;
};

type BudgetScope = "global" | "project" | "feature" | "provider" | "model" | "key" | "user" | "tag";

/** A period of a budget: days in its time zone, instants in milliseconds since 1970, USD. */
export type BlockingPeriod = {
  from: string;
  until: string;
  startsAt: number;
  endsAt: number;
  limit: Decimal;
  spent: Decimal;
  /** The amount that reservations hold. It counts against the present period only. */
  held: Decimal;
  /** Whether it is the present period. */
  isPresent: boolean;
};

/** A blocking budget, with its known periods. */
export type BlockingBudget = Omit<BlockingBudgetRow, "period"> & { periods: BlockingPeriod[] };

/**
 * Converts rows of budgets.
 * @param more periods of these budgets besides the present ones
 * @param held the amounts that reservations hold, by budget, USD
 */
export function parseBudgets(
  rows: readonly BlockingBudgetRow[],
  more: readonly BudgetPeriodRow[] = [],
  held: ReadonlyMap<string, Decimal> = new Map(),
): BlockingBudget[] {
  return rows.map(({ period, ...budget }) => {
    const others = more.filter((row) => row.budget_id === budget.id && row.from !== period?.from);
    const present = period ? [{ ...toPeriod(period, held.get(budget.id)), isPresent: true }] : [];
    return { ...budget, periods: [...present, ...others.map((row) => toPeriod(row))] };
  });
}

function toPeriod(row: BudgetPeriodRow, held = zero): BlockingPeriod {
  return {
    from: row.from,
    until: row.until,
    startsAt: row.starts_at,
    endsAt: row.ends_at,
    limit: parseDecimal(row.limit_usd),
    spent: parseDecimal(row.spent_usd),
    held,
    isPresent: false,
  };
}

/** The columns of a posting that the scopes of budgets match. `provider`: in lower case by `lowerAsPostgres`. */
export type Budgeted = {
  project: string | undefined;
  key: string;
  provider: string | undefined;
  model: string | undefined;
  feature: string | undefined;
  user: string | undefined;
  tags: readonly string[] | undefined;
};

/** Whether a posting of its workspace is in a budget's scope, at any time. `private.add_budget_spend` has the same rule. */
export function isInScope(
  { scope_type: type, scope_key: value }: BlockingBudgetRow | BlockingBudget,
  posting: Budgeted,
): boolean {
  if (type === "global") return true;
  return type === "tag" ? (posting.tags?.includes(value) ?? false) : posting[type] === value;
}

/**
 * Converts text to lower case as the database's `lower` does: each character separately, to one character. JavaScript maps `İ` to two
 * characters, and `Σ` at the end of a word to another letter.
 */
export function lowerAsPostgres(text: string): string {
  // Most texts are in lower case already.
  if (/^[a-z0-9_./-]*$/.test(text)) return text;
  return Array.from(text, (character) => [...character.toLowerCase()][0] ?? character).join("");
}

/** Whether a budget counts at an instant. @param at milliseconds since 1970 */
export function isCounted({ counts_from: from, counts_until: until }: BlockingBudget, at: number): boolean {
  return at >= from && (until === null || at < until);
}

/**
 * Whether a key may see the figures of a budget, because it may read everything that the budget counts. Needs the permission
 * `read_summaries`; otherwise the same rule as the policy of `public.budgets` for keys.
 * @param budget a budget that counts a message which the key may record; so a project budget is for a project that the key may use
 */
export function mayReadBudget(key: ApiKey, budget: BlockingBudget): boolean {
  if (!key.permissions.includes("read_summaries")) return false;
  const { project_slugs: allowed, deny_project_slugs: denied, users } = key.conditions;
  const hasProjects = key.project !== null || Boolean(allowed?.length);
  const isConfined = hasProjects || Boolean(denied?.length);
  if (users?.length) return !isConfined && budget.scope_type === "user" && users.includes(budget.scope_key);
  if (!isConfined) return true;
  return budget.scope_type === "project" || (budget.scope_type === "key" && budget.scope_key === key.id);
}

/** When a period stops refusing messages: at its end, or at the end of its budget. Milliseconds since 1970. */
export function resetOf(budget: BlockingBudget, period: BlockingPeriod): number {
  return Math.min(period.endsAt, budget.counts_until ?? Number.POSITIVE_INFINITY);
}

/** Whether a period has nothing left. @param spent USD */
export function isUsedUp(period: BlockingPeriod, spent: Decimal): boolean {
  return compare(spent, period.limit) >= 0;
}

/**
 * Refuses a message that would exceed a budget. The error names the budget, its period and when it resets; it has the limit and the spend
 * only if the caller may read them.
 * @param mayRead see `mayReadBudget`
 * @param spent USD in the period before the message
 * @param held USD that reservations hold
 */
export function budgetExceeded(
  mayRead: boolean,
  budget: BlockingBudget,
  period: BlockingPeriod,
  spent: Decimal,
  held: Decimal = zero,
): ServiceError {
  const name = `the budget "${budget.name}"`;
  const limit = mayRead ? toText(period.limit) : undefined;
  const figures =
    limit === undefined ? "" : `: $${limit}, of which $${toText(spent)} is spent${heldText(held)}`;
  const what = isUsedUp(period, spent)
    ? `T${name.slice(1)} is used up${figures}.`
    : `This would take ${name} past its limit${figures}.`;
  const resetsAt = new Date(resetOf(budget, period)).toISOString();
  return new ServiceError("budget_exceeded", `${what} It resets at ${resetsAt}.`, {
    budget: { id: budget.id, name: budget.name },
    period: { from: period.from, until: period.until, time_zone: budget.time_zone },
    resets_at: resetsAt,
    how_to_ask: {
      page: `${serviceAddress()}/workspaces/ask?budget=${budget.id}`,
      api: "POST /api/v1/budget-requests",
      tool: "request_budget",
      budget_id: budget.id,
    },
    ...(limit !== undefined && {
      limit_usd: new ExactNumber(limit),
      spent_usd: new ExactNumber(toText(spent)),
      ...heldFields(period.limit, spent, held),
    }),
  });
}

/** The part of a refusal's text about reservations; empty if they hold nothing. */
export const heldText = (held: Decimal): string =>
  compare(held, zero) > 0 ? ` and $${toText(held)} is held by reservations` : "";

/** The fields of a refusal with the held and remaining amounts. */
export function heldFields(limit: Decimal, spent: Decimal, held: Decimal) {
  const left = subtract(limit, add(spent, held));
  return {
    ...(compare(held, zero) > 0 && { held_usd: new ExactNumber(toText(held)) }),
    remaining_usd: new ExactNumber(toText(compare(left, zero) > 0 ? left : zero)),
  };
}
