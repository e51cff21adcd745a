import type { ClientBase } from "pg";
import { dayOf } from "@/lib/contract/values/instant";
import { callFunction } from "@/lib/db/query";
import { asKey, asService } from "@/lib/db/transaction";
import { compare, parseDecimal, toText } from "@/lib/decimal";
import { addMonthStart } from "@/lib/spend/period";
import { type Coverage, coveragePercent, isBelow, loadCoverage } from "./coverage";

/** A row of `private.bill_rules_to_judge`. `parameter`: null if the rule is off. `period`: the month of its current state, if it has one. */
type JudgedRule = {
  workspace_id: string;
  time_zone: string;
  rule: "bill_coverage" | "bill_difference";
  parameter: number | null;
  period: string | null;
};

/**
 * Evaluates the rules `bill_coverage` and `bill_difference` in all workspaces, on this month's bills or else the last month's, and raises
 * alerts. Does nothing while another process evaluates them.
 * @param at the time of the evaluation; tests set it
 * @returns how many alerts were raised. @throws ServiceError unavailable
 */
export async function judgeBills(at: Date = new Date()): Promise<number> {
  const since = addMonthStart(dayOf(at.getTime()), -1);
  const rules = await asService((client) =>
    callFunction<JudgedRule[]>(client, "private.bill_rules_to_judge", since),
  );
  const latest = new Map<string, Coverage | undefined>();
  const verdicts: object[] = [];
  for (const rule of rules) {
    const { workspace_id: id } = rule;
    if (rule.parameter !== null && !latest.has(id)) latest.set(id, await readLatest(rule, since));
    const verdict = toVerdict(rule, rule.parameter === null ? undefined : latest.get(id));
    if (verdict) verdicts.push(verdict);
  }
  return verdicts.length === 0 ? 0 : asService((client) => settle(client, verdicts));
}

async function settle(client: ClientBase, verdicts: object[]): Promise<number> {
  if (!(await callFunction<boolean>(client, "private.lock_alert_rules", "bills"))) return 0;
  return callFunction<number>(client, "private.settle_alert_states", JSON.stringify(verdicts));
}

/** Reads with the rights of a key that may read all live spend of this workspace only. */
async function readLatest(workspace: JudgedRule, since: string): Promise<Coverage | undefined> {
  const { workspace_id: id, time_zone: timeZone } = workspace;
  const reader = { id, workspace_id: id, environment: "live" as const, allow: null, deny: [] };
  const months = await asKey(reader, (client) => loadCoverage(client, { id, timeZone }, since));
  return months.at(-1);
}

function toVerdict(
  { workspace_id, rule, parameter, period: known }: JudgedRule,
  coverage: Coverage | undefined,
): object | undefined {
  const subject = { workspace_id, rule, subject_type: "workspace", subject_id: workspace_id };
  if (!coverage || parameter === null)
    return known === null ? undefined : { ...subject, period: known, state: "forget" };
  const period = `${coverage.month}-01`;
  const { billed, recorded, missing, difference } = coverage;
  const isOver =
    rule === "bill_coverage"
      ? isBelow(coverage, parameter)
      : compare(difference, parseDecimal(parameter)) >= 0;
  if (!isOver && known === null) return undefined;
  const figures =
    rule === "bill_coverage"
      ? { missing_usd: toText(missing), percent: coveragePercent(coverage) ?? "100" }
      : { recorded_usd: toText(recorded), difference_usd: toText(difference) };
  return {
    ...subject,
    ...{ period, state: isOver ? "warning" : "ok" },
    details: {
      ...{ subject: "Bills", billed_usd: toText(billed), ...figures },
      ...{ period_from: period, period_until: addMonthStart(period, 1) },
    },
  };
}
