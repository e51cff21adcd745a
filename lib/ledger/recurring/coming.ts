import type { ClientBase } from "pg";
import { type Decimal, parseDecimal } from "@/lib/decimal";
import { begunPeriods, composePeriod } from "./charges";
import { type ComingSubscription, selectComing, selectComingOfWorkspaces } from "./recurring-queries";

/** A charge of a recurring subscription that is not booked yet. It carries no key, model, feature or person. */
export type ComingCharge = {
  workspaceId: string;
  projectId: string;
  /** The slug. */
  project: string;
  provider: string;
  source: string;
  tags: string[];
  /** When it is going to be booked, ISO 8601 in UTC. */
  at: string;
  /** USD, at the latest exchange rate that is known. */
  amount: Decimal;
};

/**
 * The charges of a workspace's recurring subscriptions before a day, which are not booked yet, as far as the caller may see them.
 * @param before `YYYY-MM-DD`, UTC
 */
export async function loadComingCharges(
  client: ClientBase,
  scope: { workspaceId: string; environment: "live" | "test" },
  before: string,
  now: number,
): Promise<ComingCharge[]> {
  return toCharges(await selectComing(client, scope, before), before, now);
}

/** The same of several workspaces' live subscriptions, for a job of the service. */
export async function loadComingChargesOf(
  client: ClientBase,
  workspaceIds: string[],
  before: string,
  now: number,
): Promise<ComingCharge[]> {
  return toCharges(await selectComingOfWorkspaces(client, workspaceIds, before), before, now);
}

function toCharges(subscriptions: ComingSubscription[], before: string, now: number): ComingCharge[] {
  const lastDay = new Date(Date.parse(before) - 1).toISOString().slice(0, 10);
  return subscriptions.flatMap(({ message, ...row }) => {
    const periods = { anchor: row.anchor_on, interval: row.period, endsOn: row.ends_on };
    return begunPeriods(periods, row.booked_periods, lastDay).days.flatMap((startsOn) =>
      composePeriod(message, startsOn, now).postings.map((posting) => ({
        workspaceId: row.workspace_id,
        projectId: row.project_id,
        project: row.project,
        provider: message.vendor,
        source: row.source,
        tags: posting.tags ?? [],
        at: posting.occurred_at,
        amount: parseDecimal(posting.amount_usd),
      })),
    );
  });
}
