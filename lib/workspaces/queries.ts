import type { ClientBase } from "pg";
import type { CurrentUser, Membership } from "@/lib/contract/me";

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
    `select w.id, w.name, w.slug, w.type, w.description, w.base_currency, m.role
     from public.workspace_members as m
     join public.workspaces as w on w.id = m.workspace_id
     left join public.profiles as p on p.id = m.user_id
     where m.user_id = $1 and ($2::text is null or w.slug = $2)
     order by w.id is not distinct from p.default_workspace_id desc, w.name, w.slug`,
    [userId, slug ?? null],
  );
  return rows;
}
