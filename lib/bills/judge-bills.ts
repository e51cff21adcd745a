import type { ClientBase } from "pg";
import { dayOf } from "@/lib/contract/values/instant";
import { callFunction } from "@/lib/db/query";
import { asKey, asService } from "@/lib/db/transaction";
import { divideMoney, isZero, multiply, parseDecimal, subtract, toText } from "@/lib/decimal";
import { addMonthStart } from "@/lib/spend/period";
import { type Coverage, isBelow, loadCoverage } from "./coverage";

/** A row of `private.bills_to_judge`. `percent`: null if the rule is off. `period`: the month of its current state, if it has one. */
type JudgedWorkspace = {
  workspace_id: string;
  time_zone: string;
  percent: number | null;
  period: string | null;
};

/**
 * Evaluates the rule `bill_coverage` in all workspaces, on this month's bills or else the last month's, and raises alerts. Does nothing
 * while another process evaluates it.
 * @param at the time of the evaluation; tests set it
 * @returns how many alerts were raised. @throws ServiceError unavailable
 */
export async function judgeBills(at: Date = new Date()): Promise<number> {
  const since = addMonthStart(dayOf(at.getTime()), -1);
  const workspaces = await asService((client) =>
    callFunction<JudgedWorkspace[]>(client, "private.bills_to_judge", since),
  );
  const verdicts: object[] = [];
  for (const workspace of workspaces) {
    const coverage = workspace.percent === null ? undefined : await readLatest(workspace, since);
    const verdict = toVerdict(workspace, coverage);
    if (verdict) verdicts.push(verdict);
  }
  return verdicts.length === 0 ? 0 : asService((client) => settle(client, verdicts));
}

async function settle(client: ClientBase, verdicts: object[]): Promise<number> {
  if (!(await callFunction<boolean>(client, "private.lock_alert_rules", "bills"))) return 0;
  return callFunction<number>(client, "private.settle_alert_states", JSON.stringify(verdicts));
}

/** Reads with the rights of a key that may read all live spend of this workspace only. */
async function readLatest(workspace: JudgedWorkspace, since: string): Promise<Coverage | undefined> {
  const { workspace_id: id, time_zone: timeZone } = workspace;
  const reader = { id, workspace_id: id, environment: "live" as const, allow: null, deny: [] };
  const months = await asKey(reader, (client) => loadCoverage(client, { id, timeZone }, since));
  return months.at(-1);
}

function toVerdict(
  { workspace_id, percent, period: known }: JudgedWorkspace,
  coverage: Coverage | undefined,
): object | undefined {
  const subject = {
    workspace_id,
    rule: "bill_coverage",
    subject_type: "workspace",
    subject_id: workspace_id,
  };
  if (!coverage || percent === null)
    return known === null ? undefined : { ...subject, period: known, state: "forget" };
  const period = `${coverage.month}-01`;
  const isOver = isBelow(coverage, percent);
  if (!isOver && known === null) return undefined;
  const { billed, missing } = coverage;
  const whole = parseDecimal(10_000);
  const share = isZero(billed) ? whole : divideMoney(multiply(subtract(billed, missing), whole), billed);
  return {
    ...subject,
    ...{ period, state: isOver ? "warning" : "ok" },
    details: {
      subject: "Bills",
      billed_usd: toText(billed),
      missing_usd: toText(missing),
      percent: String(Math.floor(Number(toText(share))) / 100),
      period_from: period,
      period_until: addMonthStart(period, 1),
    },
  };
}
