import type { ClientBase } from "pg";
import type { z } from "zod";
import { ExactNumber } from "@/lib/contract/exact-number";
import type { budgetStatus } from "@/lib/contract/reads";
import { asKey, type KeyClaims } from "@/lib/db/transaction";
import { compare, divideMoney, multiply, parseDecimal, subtract, toText } from "@/lib/pricing/decimal";
import { monthOf } from "@/lib/reads/month";
import type { LedgerScope } from "@/lib/reads/scope";
import { type BudgetRow, selectBudgetStatus } from "./queries";

/** The part of a budget from which on it is worth an alert (specification section 8). */
const alertThreshold = parseDecimal("0.8");

/** The state of each budget the key may see, in the current UTC month (specification 2.4). */
export async function readBudgetStatus(
  claims: KeyClaims,
  now: number,
): Promise<z.output<typeof budgetStatus>> {
  const scope = { workspaceId: claims.workspace_id, environment: claims.environment };
  return { budgets: await asKey(claims, (client) => loadBudgets(client, scope, now)) };
}

/** The state of a workspace's budgets, in a transaction of the caller's, whose policies decide which it may see. */
export async function loadBudgets(client: ClientBase, scope: LedgerScope, now: number) {
  const rows = await selectBudgetStatus(client, scope, monthOf(now));
  return rows.map(describeBudget);
}

function describeBudget(row: BudgetRow) {
  const amount = parseDecimal(row.amount);
  const spent = parseDecimal(row.spent);
  return {
    id: row.id,
    name: row.name,
    scope_type: row.scope_type,
    amount: new ExactNumber(toText(amount)),
    spent: new ExactNumber(toText(spent)),
    remaining: new ExactNumber(toText(subtract(amount, spent))),
    percent_used: new ExactNumber(toText(divideMoney(spent, amount))),
    // Compared as products: a quotient would be rounded, and 79.99999996 % is not 80 %.
    alert: compare(spent, multiply(amount, alertThreshold)) >= 0,
  };
}
