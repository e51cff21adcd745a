import { callAsService } from "@/lib/db/transaction";

/**
 * Raises the alerts of budgets that time alone makes due: a period began with spend that was booked ahead, or a raise ended.
 * What a message makes due is raised in the message's own transaction.
 * @returns how many alerts were raised. @throws ServiceError unavailable
 */
export function alertOnDueBudgets(): Promise<number> {
  return callAsService("private.alert_on_due_budgets");
}
