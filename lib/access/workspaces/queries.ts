import type { ClientBase } from "pg";
import type { CurrentUser, Membership, UpdateMeRequest } from "@/lib/contract/me";
import type { UpdateWorkspaceRequest } from "@/lib/contract/workspaces";

/** A user's own profile. */
export async function selectProfile(
  client: ClientBase,
  userId: string,
): Promise<CurrentUser["profile"] | undefined> {
  const { rows } = await client.query(
    "select id, email, display_name, avatar_url, default_workspace_id from public.profiles where id = $1",
    [userId],
  );
  return rows[0];
}

/** The workspaces a user is a member of, the default one first, then by name. @param slug of one alone */
export async function selectMemberships(
  client: ClientBase,
  userId: string,
  slug?: string,
): Promise<Membership[]> {
  const { rows } = await client.query(
    `select w.id, w.name, w.slug, w.type, w.description, w.base_currency, w.require_mfa, m.role
     from public.workspace_members as m
     join public.workspaces as w on w.id = m.workspace_id
     left join public.profiles as p on p.id = m.user_id
     where m.user_id = $1 and ($2::text is null or w.slug = $2)
     order by w.id is not distinct from p.default_workspace_id desc, w.name, w.slug`,
    [userId, slug ?? null],
  );
  return rows;
}

/**
 * The workspaces that the user of the transaction does not reach for want of a second factor. Run as the service itself.
 * @param slug of one alone
 */
export async function selectLockedWorkspaces(
  client: ClientBase,
  slug?: string,
): Promise<{ slug: string; name: string }[]> {
  const { rows } = await client.query(
    "select slug, name from private.locked_workspaces() where $1::text is null or slug = $1",
    [slug ?? null],
  );
  return rows;
}

/** Changes what is given of a user's own profile; null takes it away. */
export async function updateProfile(
  client: ClientBase,
  userId: string,
  { display_name, avatar_url, default_workspace_id }: UpdateMeRequest,
): Promise<void> {
  await client.query(
    `update public.profiles set
       display_name = case when $2 then $3 else display_name end,
       avatar_url = case when $4 then $5 else avatar_url end,
       default_workspace_id = case when $6 then $7::uuid else default_workspace_id end
     where id = $1`,
    [
      userId,
      display_name !== undefined,
      display_name ?? null,
      avatar_url !== undefined,
      avatar_url ?? null,
      default_workspace_id !== undefined,
      default_workspace_id ?? null,
    ],
  );
}

/** Makes a workspace; the database makes its maker the owner. Nothing is returned: the maker may not read it before. */
export async function insertWorkspace(
  client: ClientBase,
  workspace: { slug: string; name: string; description: string | null; baseCurrency: string },
): Promise<void> {
  const { slug, name, description, baseCurrency } = workspace;
  await client.query(
    "insert into public.workspaces (slug, name, description, base_currency) values ($1, $2, $3, $4)",
    [slug, name, description, baseCurrency],
  );
}

/** Changes what is given of a workspace. */
export async function updateWorkspaceRow(
  client: ClientBase,
  workspaceId: string,
  { name, description, base_currency, require_mfa }: UpdateWorkspaceRequest,
): Promise<void> {
  await client.query(
    `update public.workspaces set
       name = coalesce($2, name),
       description = case when $3 then $4 else description end,
       base_currency = coalesce($5, base_currency),
       require_mfa = coalesce($6, require_mfa)
     where id = $1`,
    [
      workspaceId,
      name ?? null,
      description !== undefined,
      description ?? null,
      base_currency ?? null,
      require_mfa ?? null,
    ],
  );
}

/** How many projects, keys, budgets and connections a workspace has in use. */
export async function selectCounts(
  client: ClientBase,
  workspaceId: string,
): Promise<{ projects: number; api_keys: number; budgets: number; connections: number }> {
  const { rows } = await client.query(
    `select
       (select count(*)::int from public.projects where workspace_id = $1 and archived_at is null) as projects,
       (select count(*)::int from public.api_keys where workspace_id = $1 and kind = 'key' and revoked_at is null) as api_keys,
       (select count(*)::int from public.budgets where workspace_id = $1) as budgets,
       (select count(*)::int from public.connections where workspace_id = $1) as connections`,
    [workspaceId],
  );
  return rows[0];
}
