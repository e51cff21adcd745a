import type { ClientBase } from "pg";
import type { CurrentUser, Membership, UpdateMeRequest } from "@/lib/contract/access/me";
import type { UpdateWorkspaceRequest } from "@/lib/contract/access/workspaces";
import { boolean, integer, nullable, text, timestamp, uuid } from "@/lib/db/columns";
import { execute, selectAll, selectFirst, selectOne } from "@/lib/db/query";
import { assignments, empty, sql } from "@/lib/db/sql";

/** A user's own profile. */
export async function selectProfile(
  client: ClientBase,
  userId: string,
): Promise<(CurrentUser["profile"] & { deleted_at: Date | null }) | undefined> {
  return selectFirst(
    client,
    {
      id: uuid(),
      email: text(),
      display_name: nullable(text()),
      avatar_url: nullable(text()),
      default_workspace_id: nullable(uuid()),
      locale: nullable(text<NonNullable<CurrentUser["profile"]["locale"]>>()),
      shown_currency: text<CurrentUser["profile"]["shown_currency"]>(),
      deleted_at: nullable(timestamp()),
    },
    sql`select id, email, display_name, avatar_url, default_workspace_id, locale, shown_currency, deleted_at
      from public.profiles where id = ${userId}`,
  );
}

/** The workspaces that a user is a member of: the default one first, then by name. @param slug only this one */
export function selectMemberships(client: ClientBase, userId: string, slug?: string): Promise<Membership[]> {
  return selectAll(
    client,
    {
      id: uuid(),
      name: text(),
      slug: text(),
      type: text<Membership["type"]>(),
      description: nullable(text()),
      base_currency: text(),
      time_zone: text(),
      next_time_zone: nullable(text()),
      require_mfa: boolean(),
      role: text<Membership["role"]>(),
    },
    sql`select w.id, w.name, w.slug, w.type, w.description, w.base_currency, w.time_zone,
        change.time_zone as next_time_zone, w.require_mfa, m.role
      from public.workspace_members as m
      join public.workspaces as w on w.id = m.workspace_id
      left join public.profiles as p on p.id = m.user_id
      left join public.time_zone_changes as change on change.workspace_id = w.id
      where m.user_id = ${userId} ${slug === undefined ? empty : sql`and w.slug = ${slug}`}
      order by w.id is not distinct from p.default_workspace_id desc, w.name, w.slug`,
  );
}

/**
 * The workspaces that the transaction's user cannot read without a second factor. Runs as the service.
 * @param slug only this one
 */
export function selectLockedWorkspaces(
  client: ClientBase,
  slug?: string,
): Promise<{ slug: string; name: string }[]> {
  return selectAll(
    client,
    { slug: text(), name: text() },
    sql`select slug, name from private.locked_workspaces()
      ${slug === undefined ? empty : sql`where slug = ${slug}`}`,
  );
}

/** The workspaces of the transaction's user that were deleted and can still be restored. Runs as the service. */
export function selectDeletedMemberships(client: ClientBase) {
  return selectAll(
    client,
    {
      id: uuid(),
      slug: text(),
      name: text(),
      role: text<Membership["role"]>(),
      require_mfa: boolean(),
      deleted_at: timestamp(),
      erased_at: timestamp(),
      deleted_by: nullable(text()),
    },
    sql`select id, slug, name, role, require_mfa, deleted_at, erased_at, deleted_by from private.deleted_memberships()`,
  );
}

/** Changes the given fields of a user's own profile; null clears a field. */
export async function updateProfile(
  client: ClientBase,
  userId: string,
  { display_name, avatar_url, default_workspace_id, locale, shown_currency }: UpdateMeRequest,
): Promise<void> {
  const set = assignments({
    display_name,
    avatar_url,
    default_workspace_id,
    locale,
    shown_currency,
  });
  if (!set) return;
  await execute(client, sql`update public.profiles set ${set} where id = ${userId}`);
}

/**
 * Inserts a workspace; a trigger makes its creator the owner. Returns nothing, because the creator may not read the row
 * until then.
 */
export async function insertWorkspace(
  client: ClientBase,
  workspace: {
    slug: string;
    name: string;
    description: string | null;
    baseCurrency: string;
    timeZone: string;
  },
): Promise<void> {
  const { slug, name, description, baseCurrency, timeZone } = workspace;
  await execute(
    client,
    sql`insert into public.workspaces (slug, name, description, base_currency, time_zone)
      values (${slug}, ${name}, ${description}, ${baseCurrency}, ${timeZone})`,
  );
}

/** Changes the given fields of a workspace. */
export async function updateWorkspaceRow(
  client: ClientBase,
  workspaceId: string,
  { name, description, base_currency, require_mfa }: UpdateWorkspaceRequest,
): Promise<void> {
  const set = assignments({ name, description, base_currency, require_mfa });
  if (!set) return;
  await execute(client, sql`update public.workspaces set ${set} where id = ${workspaceId}`);
}

/** Requests a change of a workspace's time zone. @throws an error 22023 for an unknown zone, 23505 while another change is pending */
export async function insertTimeZoneChange(
  client: ClientBase,
  workspaceId: string,
  timeZone: string,
): Promise<void> {
  await execute(
    client,
    sql`insert into public.time_zone_changes (workspace_id, time_zone) values (${workspaceId}, ${timeZone})`,
  );
}

/** How many active projects, keys, budgets and connections a workspace has. */
export function selectCounts(
  client: ClientBase,
  workspaceId: string,
): Promise<{ projects: number; api_keys: number; budgets: number; connections: number }> {
  return selectOne(
    client,
    { projects: integer(), api_keys: integer(), budgets: integer(), connections: integer() },
    sql`select
        (select count(*)::int from public.projects where workspace_id = w.id and archived_at is null) as projects,
        (select count(*)::int from public.api_keys
          where workspace_id = w.id and kind = 'key' and revoked_at is null) as api_keys,
        (select count(*)::int from public.budgets where workspace_id = w.id) as budgets,
        (select count(*)::int from public.connections where workspace_id = w.id) as connections
      from (select ${workspaceId}::uuid as id) as w`,
  );
}
