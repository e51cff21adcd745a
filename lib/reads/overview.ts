import { loadBudgets } from "@/lib/budgets/service";
import { asUser, type UserClaims } from "@/lib/db/transaction";
import { compare, divideMoney, parseDecimal, subtract, sum, toText, zero } from "@/lib/pricing/decimal";
import { monthOf } from "./month";
import { monthPace } from "./pace";
import { hasSpend, selectProjectTotals, selectSpendUntil } from "./queries";

const dayMs = 24 * 60 * 60 * 1000;

/** A workspace's month at a glance. Money is USD as exact text, parts are fractions as text. */
export type Overview = {
  /** The first day of this month and of the last, and the last day of this one: `YYYY-MM-DD`. */
  month: string;
  lastMonth: string;
  monthEnds: string;
  total: string;
  messages: number;
  unpriced: number;
  /** What this month is more (or, below zero, less) than the last was at this point of it; null where that was nothing. */
  change: string | null;
  /** What the month comes to if it goes on as so far; null while it is too young to tell. */
  pace: string | null;
  /** The dearest first. `share` is the part of the total; null where the total is nothing. */
  projects: { slug: string; name: string; total: string; messages: number; share: string | null }[];
  budgets: {
    id: string;
    name: string;
    isWhole: boolean;
    amount: string;
    percentUsed: string;
    alert: boolean;
  }[];
  /** Whether anything was ever recorded here. */
  isNew: boolean;
};

/** Reads a workspace's current UTC month as the user may see it, live spend alone. */
export async function readOverview(claims: UserClaims, workspaceId: string, now: number): Promise<Overview> {
  const scope = { workspaceId, environment: "live" as const };
  const month = monthOf(now);
  const point = samePointOfLastMonth(now);
  const read = await asUser(claims, async (client) => ({
    projects: await selectProjectTotals(client, scope, month),
    before: parseDecimal(await selectSpendUntil(client, scope, point)),
    isNew: !(await hasSpend(client, workspaceId)),
    budgets: await loadBudgets(client, scope, now),
  }));
  const total = sum(read.projects.map((project) => parseDecimal(project.total)));
  const pace = monthPace(total, now);
  const share = (amount: string) =>
    compare(total, zero) > 0 ? toText(divideMoney(parseDecimal(amount), total)) : null;
  return {
    month: month.from,
    lastMonth: point.from,
    monthEnds: new Date(Date.parse(month.until) - dayMs).toISOString().slice(0, 10),
    total: toText(total),
    messages: read.projects.reduce((count, { messages }) => count + Number(messages), 0),
    unpriced: read.projects.reduce((count, { unpriced }) => count + Number(unpriced), 0),
    change:
      compare(read.before, zero) > 0 ? toText(divideMoney(subtract(total, read.before), read.before)) : null,
    pace: pace && toText(pace.total),
    projects: read.projects.map(({ slug, name, total: amount, messages }) => ({
      slug,
      name,
      total: toText(parseDecimal(amount)),
      messages: Number(messages),
      share: share(amount),
    })),
    budgets: read.budgets.map(({ id, name, scope_type, amount, percent_used, alert }) => ({
      id,
      name,
      isWhole: scope_type === "global",
      amount: amount.text,
      percentUsed: percent_used.text,
      alert,
    })),
    isNew: read.isNew,
  };
}

/** As much of last month as has passed of this one: whole days and the same part of the day. */
function samePointOfLastMonth(now: number): { from: string; last: string; fraction: string } {
  const today = new Date(now);
  const { from } = monthOf(Date.UTC(today.getUTCFullYear(), today.getUTCMonth() - 1, 1));
  const last = Date.parse(from) + (today.getUTCDate() - 1) * dayMs;
  const lastDay = Date.parse(monthOf(now).from) - dayMs;
  // The 31st has no counterpart in a shorter month: all of that month has passed by then.
  if (last > lastDay) return { from, last: new Date(lastDay).toISOString().slice(0, 10), fraction: "1" };
  return {
    from,
    last: new Date(last).toISOString().slice(0, 10),
    fraction: ((now % dayMs) / dayMs).toFixed(6),
  };
}
