import type { PoolClient } from "pg";
import { callFunction } from "@/lib/db/query";
import type { BudgetPeriodRow } from "@/lib/keys/blocking-budgets";
import type { SpendRange } from "./group-allocations";
import type { UnknownPeriods } from "./group-budgets";
import type { LoadedPosting, WantedMessage } from "./wanted-reports";

/** A project's spend in a range of days, USD as text. */
type ProjectSpend = {
  project_id: string;
  environment: string;
  from: string;
  until: string;
  amount_usd: string;
};

/**
 * Loads the spend of projects in ranges of days, USD as text. Locks each project, environment and month until the transaction ends, so
 * that two concurrent allocations cannot move the same spend.
 */
export async function loadProjectSpend(client: PoolClient, wanted: SpendRange[]): Promise<ProjectSpend[]> {
  if (wanted.length === 0) return [];
  const spend = await callFunction<ProjectSpend[] | null>(
    client,
    "private.load_project_spend",
    JSON.stringify(wanted),
  );
  return spend ?? [];
}

/** The periods of blocking budgets that contain these instants. The group's transaction holds the locks of the budgets. */
export function loadBudgetPeriods(client: PoolClient, wanted: UnknownPeriods[]): Promise<BudgetPeriodRow[]> {
  return callFunction(client, "private.load_budget_periods", JSON.stringify(wanted));
}

/** The postings of messages that were recorded for calls of models, by their ids. */
export async function loadReportedMessages(
  client: PoolClient,
  wanted: readonly WantedMessage[],
): Promise<LoadedPosting[]> {
  const times = wanted.map(({ atUs }) => atUs);
  const postings = await callFunction<LoadedPosting[] | null>(
    client,
    "private.load_told",
    [...new Set(wanted.map(({ workspaceId }) => workspaceId))],
    wanted.map(({ id }) => id),
    Math.min(...times),
    Math.max(...times),
  );
  return postings ?? [];
}

/** The key under which the signed-in member records by hand; null if they may not. Needs the claims of the user. */
export function selectMemberKey(
  client: PoolClient,
  workspaceId: string,
  environment: "live" | "test",
): Promise<string | null> {
  return callFunction(client, "private.member_key", workspaceId, environment);
}
