import type { ClientBase } from "pg";
import type { CostMessage } from "@/lib/contract/message";

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
