import { callFunction } from "@/lib/db/query";
import { asService, callAsService } from "@/lib/db/transaction";
import { followPublished } from "@/lib/ledger/published/follow";
import { rateOn } from "./rate";

/**
 * Does what is due because time has passed: stores the exchange rates of periods that have begun, then raises the alerts of
 * budgets whose period began with spend booked ahead, or whose raise ended. Alerts caused by a message are raised in the
 * message's own transaction.
 * @returns how many alerts were raised. @throws ServiceError unavailable
 */
export async function watchBudgets(): Promise<number> {
  await rateBudgets();
  return callAsService("private.alert_on_due_budgets");
}

/** A budget as `private.list_unrated_budgets` returns it. `period_from`: the first day of its present period. */
type Unrated = { workspace_id: string; id: string; currency: string; period_from: string };

/** Stores the rate of each present period that has none, for budgets in other currencies than USD. */
async function rateBudgets(): Promise<void> {
  await followPublished();
  await asService(async (client) => {
    const unrated = await callFunction<Unrated[] | null>(client, "private.list_unrated_budgets");
    if (!unrated) return;
    const rated = unrated.map(({ currency, ...budget }) => ({
      ...budget,
      usd_rate: rateOn(currency, budget.period_from),
    }));
    await callFunction(client, "private.rate_budgets", JSON.stringify(rated));
  });
}
