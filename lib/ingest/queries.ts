import type { PoolClient } from "pg";
import type { SpendRange } from "./allocation";
import type { RememberedRequest } from "./idempotency";
import type { LedgerRow } from "./ledger";
import type { NewSubscription } from "./recurring";

/** A project to be made by the message that first names it. */
export type NewProject = { workspace_id: string; id: string; slug: string; name: string };

/** What was answered to an idempotency key. */
export type Replay = {
  workspace_id: string;
  key: string;
  message_id: string;
  request: RememberedRequest;
  response: Record<string, unknown>;
  created_at: string;
};

/**
 * Writes messages with everything that must be true at the same moment.
 * @throws a serialization failure (40001) where another process was first with a project or an idempotency key
 */
export async function storeMessages(
  client: PoolClient,
  batch: { projects: NewProject[]; messages: LedgerRow[]; replays: Replay[] },
): Promise<void> {
  await client.query("select private.store_messages($1, $2, $3)", [
    JSON.stringify(batch.projects),
    JSON.stringify(batch.messages),
    JSON.stringify(batch.replays),
  ]);
}

/** A subscription with a period that has begun and is not booked; locked until the transaction ends. Days are text. */
export type DueSubscription = Omit<NewSubscription, "next_on"> & { next_on: string; booked_periods: number };

/** The database's time, milliseconds since 1970. */
export async function selectNow(client: PoolClient): Promise<number> {
  const { rows } = await client.query<{ now: string }>(
    "select (extract(epoch from clock_timestamp()) * 1000)::bigint as now",
  );
  return Number(rows[0]?.now);
}

/** @param today `YYYY-MM-DD`, UTC */
export async function lockDueSubscriptions(
  client: PoolClient,
  today: string,
  atMost: number,
): Promise<DueSubscription[]> {
  const { rows } = await client.query<DueSubscription>(
    "select * from private.lock_due_subscriptions($1, $2)",
    [today, atMost],
  );
  return rows;
}

export async function advanceSubscription(
  client: PoolClient,
  { workspace_id, id }: DueSubscription,
  booked: number,
  nextOn: string | null,
): Promise<void> {
  await client.query("select private.advance_subscription($1, $2, $3, $4)", [
    workspace_id,
    id,
    booked,
    nextOn,
  ]);
}

/**
 * What projects have spent in ranges of days, USD as text. Until the transaction ends nobody else is told of the same
 * project, environment and month: two allocations at once cannot both move the same spend.
 */
export async function loadProjectSpend(
  client: PoolClient,
  wanted: SpendRange[],
): Promise<{ project_id: string; environment: string; from: string; until: string; amount_usd: string }[]> {
  if (wanted.length === 0) return [];
  const { rows } = await client.query("select private.load_project_spend($1) as spend", [
    JSON.stringify(wanted),
  ]);
  return rows[0]?.spend ?? [];
}

/** The key under which the signed-in member records by hand; null where they may not. The claims are still a user's. */
export async function selectMemberKey(
  client: PoolClient,
  workspaceId: string,
  environment: "live" | "test",
): Promise<string | null> {
  const { rows } = await client.query("select private.member_key($1, $2) as id", [workspaceId, environment]);
  return rows[0].id;
}
