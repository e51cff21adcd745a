import { callAsService } from "@/lib/db/transaction";

/**
 * Judges the rules about keys, sources and usage for all workspaces, and raises the alerts. Another process that judges
 * meanwhile does it instead. @returns how many alerts were to be raised. @throws ServiceError unavailable
 */
export function judgeAlertRules(): Promise<number> {
  return callAsService("private.judge_alert_rules");
}
