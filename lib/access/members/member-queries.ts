import type { ClientBase } from "pg";
import type { WorkspaceRole } from "@/lib/contract/access/me";
import { nullable, type Row, text, timestamp, uuid } from "@/lib/db/columns";
import { execute, selectAll } from "@/lib/db/query";
import { empty, sql } from "@/lib/db/sql";

const memberRow = {
  user_id: uuid(),
  role: text<WorkspaceRole>(),
  display_name: nullable(text()),
  email: text(),
  avatar_url: nullable(text()),
  joined_at: timestamp(),
};

/** A member as stored. */
export type MemberRow = Row<typeof memberRow>;

/** A workspace's members, from owner to viewer, then by name. @param userId only this one */
export function selectMembers(
  client: ClientBase,
  workspaceId: string,
  userId: string | null = null,
): Promise<MemberRow[]> {
  return selectAll(
    client,
    memberRow,
    sql`select m.user_id, m.role, p.display_name, p.email, p.avatar_url, m.created_at as joined_at
      from public.workspace_members as m
      join public.profiles as p on p.id = m.user_id
      where m.workspace_id = ${workspaceId} ${userId === null ? empty : sql`and m.user_id = ${userId}`}
      order by array_position(array['owner', 'admin', 'member', 'viewer'], m.role),
        lower(coalesce(p.display_name, p.email)), m.user_id`,
  );
}

/** Locks two memberships, always in the same order, and reads their roles. */
export async function lockRoles(
  client: ClientBase,
  workspaceId: string,
  userIds: [string, string],
): Promise<Map<string, WorkspaceRole>> {
  const rows = await selectAll(
    client,
    { user_id: uuid(), role: text<WorkspaceRole>() },
    sql`select user_id, role from public.workspace_members
      where workspace_id = ${workspaceId} and user_id = any (${userIds})
      order by user_id
      for update`,
  );
  return new Map(rows.map(({ user_id, role }) => [user_id, role]));
}

/** Changes a member's role. @returns whether the membership existed and the user may change it */
export async function updateRole(
  client: ClientBase,
  workspaceId: string,
  userId: string,
  role: WorkspaceRole,
): Promise<boolean> {
  const changed = await execute(
    client,
    sql`update public.workspace_members set role = ${role}
      where workspace_id = ${workspaceId} and user_id = ${userId}`,
  );
  return changed === 1;
}

/** Deletes a membership. @returns whether it existed and the user may end it */
export async function deleteMember(
  client: ClientBase,
  workspaceId: string,
  userId: string,
): Promise<boolean> {
  const deleted = await execute(
    client,
    sql`delete from public.workspace_members where workspace_id = ${workspaceId} and user_id = ${userId}`,
  );
  return deleted === 1;
}
