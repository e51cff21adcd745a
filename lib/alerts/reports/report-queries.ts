import type { ClientBase } from "pg";
import { text, timestamp } from "@/lib/db/columns";
import { execute, selectFirst } from "@/lib/db/query";
import { sql } from "@/lib/db/sql";
import { callAsService } from "@/lib/db/transaction";

/** The user's subscription to a workspace's report. The policy shows only their own. */
export function selectSubscription(client: ClientBase, workspaceId: string) {
  return selectFirst(
    client,
    { time_zone: text(), next_at: timestamp() },
    sql`select time_zone, next_at from public.weekly_reports where workspace_id = ${workspaceId}`,
  );
}

/** Subscribes the user, or changes their time zone. @throws an error 22023 for a zone that Postgres does not know */
export async function subscribe(client: ClientBase, workspaceId: string, zone: string): Promise<void> {
  await execute(
    client,
    sql`insert into public.weekly_reports (workspace_id, time_zone) values (${workspaceId}, ${zone})
      on conflict (workspace_id, user_id) do update set time_zone = excluded.time_zone`,
  );
}

/** Ends the weekly report of the calling user for a workspace. Does nothing without one. */
export async function unsubscribe(client: ClientBase, workspaceId: string): Promise<void> {
  await execute(client, sql`delete from public.weekly_reports where workspace_id = ${workspaceId}`);
}

/** Stores the hash of the secret in a mail's unsubscribe link. */
export async function addReportLink(workspaceId: string, userId: string, secretHash: Buffer): Promise<void> {
  await callAsService("private.add_report_link", workspaceId, userId, secretHash);
}

/** Ends the report subscription that an unsubscribe link belongs to, if there is one. */
export async function endReport(secretHash: Buffer): Promise<void> {
  await callAsService("private.end_weekly_report", secretHash);
}
