import type { ClientBase } from "pg";
import { bigint, boolean, nullable, type Row, text, timestamp, uuid } from "@/lib/db/columns";
import { execute, selectAll, selectOne } from "@/lib/db/query";
import { empty, sql } from "@/lib/db/sql";

const viewRow = {
  id: uuid(),
  name: text(),
  query: text(),
  is_shared: boolean(),
  created_by: uuid(),
  created_by_name: nullable(text()),
  created_at: timestamp(),
};

/** A saved view as stored, with its maker's name. */
export type ViewRow = Row<typeof viewRow>;

/** The views of a workspace that the user may see, by name. @param id only this one */
export function selectViews(client: ClientBase, workspaceId: string, id?: string): Promise<ViewRow[]> {
  return selectAll(
    client,
    viewRow,
    sql`select v.id, v.name, v.query, v.is_shared, v.created_by, p.display_name as created_by_name, v.created_at
      from public.saved_views as v
      left join public.profiles as p on p.id = v.created_by
      where v.workspace_id = ${workspaceId} ${id === undefined ? empty : sql`and v.id = ${id}`}
      order by lower(v.name), v.id`,
  );
}

/** How many views a user has in a workspace. */
export async function countViews(client: ClientBase, workspaceId: string, userId: string): Promise<number> {
  const { views } = await selectOne(
    client,
    { views: bigint() },
    sql`select count(*) as views from public.saved_views
      where workspace_id = ${workspaceId} and created_by = ${userId}`,
  );
  return Number(views);
}

/** Saves a view of the user. @returns its id */
export async function insertView(
  client: ClientBase,
  workspaceId: string,
  { name, query, is_shared }: { name: string; query: string; is_shared: boolean },
): Promise<string> {
  const { id } = await selectOne(
    client,
    { id: uuid() },
    sql`insert into public.saved_views (workspace_id, name, query, is_shared)
      values (${workspaceId}, ${name}, ${query}, ${is_shared}) returning id`,
  );
  return id;
}

/** Deletes a view. @returns whether the view existed and the user may delete it */
export async function deleteView(client: ClientBase, workspaceId: string, id: string): Promise<boolean> {
  const deleted = await execute(
    client,
    sql`delete from public.saved_views where workspace_id = ${workspaceId} and id = ${id}`,
  );
  return deleted === 1;
}
