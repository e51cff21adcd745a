import type { ClientBase, PoolClient } from "pg";
import type { CostMessage } from "@/lib/contract/message";
import type { NewSubscription } from "./charges";

/** A recurring subscription as stored; days are text. */
export type SubscriptionRow = {
  id: string;
  project: string;
  environment: "live" | "test";
  message: Extract<CostMessage, { type: "subscription" }>;
  anchor_on: string;
  ends_on: string | null;
  booked_periods: number;
  next_on: string | null;
  stopped_at: Date | null;
};

/** A workspace's recurring subscriptions, those that go on first. @param id of one alone */
export async function selectSubscriptions(
  client: ClientBase,
  workspaceId: string,
  id: string | null = null,
): Promise<SubscriptionRow[]> {
  const { rows } = await client.query<SubscriptionRow>(
    `select s.id, p.slug as project, s.environment, s.message, s.anchor_on, s.ends_on, s.booked_periods, s.next_on, s.stopped_at
     from public.recurring_subscriptions as s
     join public.projects as p on p.workspace_id = s.workspace_id and p.id = s.project_id
     where s.workspace_id = $1 and ($2::uuid is null or s.id = $2)
     order by s.next_on nulls last, s.id`,
    [workspaceId, id],
  );
  return rows;
}

/** Stops a subscription that still goes on. */
export async function stopSubscription(client: ClientBase, workspaceId: string, id: string): Promise<void> {
  await client.query(
    `update public.recurring_subscriptions set stopped_at = now(), next_on = null
     where workspace_id = $1 and id = $2 and stopped_at is null`,
    [workspaceId, id],
  );
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
