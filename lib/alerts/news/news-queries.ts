import type { ClientBase } from "pg";
import { alertColumns, selectedAlert } from "@/lib/alerts/alert-columns";
import { boolean, integer, type Row } from "@/lib/db/columns";
import { execute, selectAll, selectOne } from "@/lib/db/query";
import { sql } from "@/lib/db/sql";

const newsRow = { ...alertColumns, is_unread: boolean() };

/** An alert, and whether the user has not seen it. */
export type NewsRow = Row<typeof newsRow>;

/** The condition for alerts `a` that the user has not seen. Runs as the user: the policy shows only their own row. */
const unseen = sql`a.number > coalesce((select s.seen_number from public.seen_alerts as s where s.workspace_id = a.workspace_id), 0)
  and a.fired_at >= m.created_at and not a.is_quiet`;

/** The newest alerts of a workspace that were sent. @param userId the user as whom the transaction runs */
export function selectNewest(
  client: ClientBase,
  workspaceId: string,
  userId: string,
  atMost: number,
): Promise<NewsRow[]> {
  return selectAll(
    client,
    newsRow,
    sql`select ${selectedAlert}, coalesce(${unseen}, false) as is_unread
      from public.alerts as a
      join public.workspace_members as m on m.workspace_id = a.workspace_id and m.user_id = ${userId}
      where a.workspace_id = ${workspaceId} and not a.is_quiet
      order by a.number desc
      limit ${atMost}`,
  );
}

/** Counts the alerts that the user has not seen, up to `atMost`. */
export async function countUnseen(
  client: ClientBase,
  workspaceId: string,
  userId: string,
  atMost: number,
): Promise<number> {
  const { unseen: count } = await selectOne(
    client,
    { unseen: integer() },
    sql`select count(*)::integer as unseen
      from (
        select from public.alerts as a
        join public.workspace_members as m on m.workspace_id = a.workspace_id and m.user_id = ${userId}
        where a.workspace_id = ${workspaceId} and ${unseen}
        limit ${atMost}
      ) as counted`,
  );
  return count;
}

/** Marks an alert and all before it as seen by the user. @returns false if the workspace has no such alert */
export async function recordSeen(client: ClientBase, workspaceId: string, alertId: string): Promise<boolean> {
  const updated = await execute(
    client,
    sql`insert into public.seen_alerts as s (workspace_id, seen_number)
      select a.workspace_id, a.number from public.alerts as a
      where a.workspace_id = ${workspaceId} and a.id = ${alertId}
      on conflict (workspace_id, user_id) do update
        set seen_number = greatest(s.seen_number, excluded.seen_number)`,
  );
  return updated > 0;
}
