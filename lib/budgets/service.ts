import type { z } from "zod";
import { ExactNumber } from "@/lib/contract/exact-number";
import type { budgetStatus } from "@/lib/contract/reads";
import { asKey, type KeyClaims } from "@/lib/db/transaction";
import { compare, divideMoney, multiply, parseDecimal, subtract, toText } from "@/lib/pricing/decimal";
import { monthOf } from "@/lib/reads/month";
import { selectBudgetStatus } from "./queries";

/** The part of a budget from which on it is worth an alert (specification section 8). */
const alertThreshold = parseDecimal("0.8");

/** The state of each budget the key may see, in the current UTC month (specification 2.4). */
export async function readBudgetStatus(
  claims: KeyClaims,
  now: number,
): Promise<z.output<typeof budgetStatus>> {
  const rows = await asKey(claims, (client) => selectBudgetStatus(client, monthOf(now), claims.environment));
  return {
    budgets: rows.map((row) => {
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
    }),
  };
}
