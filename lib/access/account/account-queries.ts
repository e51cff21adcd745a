import type { ClientBase } from "pg";
import { text } from "@/lib/db/columns";
import { selectAll } from "@/lib/db/query";
import { sql } from "@/lib/db/sql";

/** The workspaces with other members whose only owner is the user. */
export function selectSolelyOwned(
  client: ClientBase,
  userId: string,
): Promise<{ slug: string; name: string }[]> {
  return selectAll(
    client,
    { slug: text(), name: text() },
    sql`select w.slug, w.name
      from public.workspace_members as m
      join public.workspaces as w on w.id = m.workspace_id
      where m.user_id = ${userId} and m.role = 'owner'
        and exists (
          select from public.workspace_members as o join public.profiles as p on p.id = o.user_id
          where o.workspace_id = w.id and o.user_id <> m.user_id and p.deleted_at is null
        )
        and not exists (
          select from public.workspace_members as o join public.profiles as p on p.id = o.user_id
          where o.workspace_id = w.id and o.user_id <> m.user_id and p.deleted_at is null and o.role = 'owner'
        )
      order by w.name`,
  );
}
