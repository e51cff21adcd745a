import { callAsService } from "@/lib/db/transaction";

/**
 * Judges the rules about keys and sources for all workspaces, and raises the alerts. Another process that judges meanwhile
 * does it instead. @returns how many alerts were to be raised. @throws ServiceError unavailable
 */
export function judgeKeyRules(): Promise<number> {
  return callAsService("private.judge_key_rules");
}

/** Judges the rules about usage, as `judgeKeyRules` does. They read more, and are judged less often. */
export function judgeUsageRules(): Promise<number> {
  return callAsService("private.judge_usage_rules");
}
