import type { ClientBase } from "pg";
import { type Decimal, parseDecimal } from "@/lib/decimal";
import { begunPeriods, composePeriod } from "./charges";
import { type ComingSubscription, selectComing, selectComingOfWorkspaces } from "./recurring-queries";

/** A charge of a recurring subscription that is not booked yet. It has no key, model, feature or person. */
export type ComingCharge = {
  workspaceId: string;
  projectId: string;
  /** The slug. */
  project: string;
  provider: string;
  source: string;
  tags: string[];
  /** When the cost will occur, ISO 8601 in UTC. */
  at: string;
  /** USD, at the latest known exchange rate. */
  amount: Decimal;
};

/**
 * The charges before a day, not booked yet, of a workspace's recurring subscriptions that the caller may see.
 * @param before `YYYY-MM-DD`, UTC
 * @param now milliseconds since 1970
 */
export async function loadComingCharges(
  client: ClientBase,
  scope: { workspaceId: string; environment: "live" | "test" },
  before: string,
  now: number,
): Promise<ComingCharge[]> {
  return toCharges(await selectComing(client, scope, before), before, now);
}

/** Like `loadComingCharges`, for the live subscriptions of several workspaces. Runs as the service. */
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
