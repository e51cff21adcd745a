import type { ClientBase } from "pg";
import type { WorkspaceRole } from "@/lib/contract/me";

/** A member as stored. */
export type MemberRow = {
  user_id: string;
  role: WorkspaceRole;
  display_name: string | null;
  email: string;
  avatar_url: string | null;
  joined_at: Date;
};

/** A workspace's members, from owner to viewer, then by name. @param userId of one alone */
export async function selectMembers(
  client: ClientBase,
  workspaceId: string,
  userId: string | null = null,
): Promise<MemberRow[]> {
  const { rows } = await client.query<MemberRow>(
    `select m.user_id, m.role, p.display_name, p.email, p.avatar_url, m.created_at as joined_at
     from public.workspace_members as m
     join public.profiles as p on p.id = m.user_id
     where m.workspace_id = $1 and ($2::uuid is null or m.user_id = $2)
     order by array_position(array['owner', 'admin', 'member', 'viewer'], m.role), lower(coalesce(p.display_name, p.email)), m.user_id`,
    [workspaceId, userId],
  );
  return rows;
}

/** Locks two memberships, always in the same order, and reads the roles as they are then. */
export async function lockRoles(
  client: ClientBase,
  workspaceId: string,
  userIds: [string, string],
): Promise<Map<string, WorkspaceRole>> {
  const { rows } = await client.query<{ user_id: string; role: WorkspaceRole }>(
    `select user_id, role from public.workspace_members
     where workspace_id = $1 and user_id = any ($2)
     order by user_id
     for update`,
    [workspaceId, userIds],
  );
  return new Map(rows.map(({ user_id, role }) => [user_id, role]));
}

/** @returns whether there was a membership that the user may change */
export async function updateRole(
  client: ClientBase,
  workspaceId: string,
  userId: string,
  role: WorkspaceRole,
): Promise<boolean> {
  const { rowCount } = await client.query(
    "update public.workspace_members set role = $3 where workspace_id = $1 and user_id = $2",
    [workspaceId, userId, role],
  );
  return rowCount === 1;
}

/** @returns whether there was a membership that the user may end */
export async function deleteMember(
  client: ClientBase,
  workspaceId: string,
  userId: string,
): Promise<boolean> {
  const { rowCount } = await client.query(
    "delete from public.workspace_members where workspace_id = $1 and user_id = $2",
    [workspaceId, userId],
  );
  return rowCount === 1;
}
