import type { ClientBase } from "pg";
import type { DayRange } from "@/lib/contract/month";

/** A project as stored, with its live spend: USD as exact text. */
export type ProjectRow = {
  id: string;
  slug: string;
  name: string;
  archived_at: Date | null;
  created_at: Date;
  month_usd: string;
  month_message_count: string;
  message_count: string;
  last_activity_on: string | null;
};

/** A workspace's projects, those in use first, then by name. @param slug of one alone */
export async function selectProjects(
  client: ClientBase,
  workspaceId: string,
  { from, until, today }: DayRange & { today: string },
  slug: string | null = null,
): Promise<ProjectRow[]> {
  const { rows } = await client.query<ProjectRow>(
    `select p.id, p.slug, p.name, p.archived_at, p.created_at,
       trim_scale(coalesce(spend.month_usd, 0)) as month_usd,
       coalesce(spend.month_message_count, 0) as month_message_count,
       coalesce(spend.message_count, 0) as message_count,
       spend.last_activity_on
     from public.projects as p
     left join (
       select value,
         sum(amount_usd) filter (where day >= $2 and day < $3) as month_usd,
         sum(message_count) filter (where day >= $2 and day < $3) as month_message_count,
         sum(message_count) as message_count,
         max(day) filter (where day <= $4) as last_activity_on
       from public.daily_totals
       where workspace_id = $1 and environment = 'live' and dimension = 'project'
       group by value
     ) as spend on spend.value = p.id::text
     where p.workspace_id = $1 and ($5::text is null or p.slug = $5)
     order by p.archived_at is not null, lower(p.name), p.slug`,
    [workspaceId, from, until, today, slug],
  );
  return rows;
}

/** The slugs of a workspace's projects in the order in which they were made. */
export async function selectProjectSlugs(client: ClientBase, workspaceId: string): Promise<string[]> {
  const { rows } = await client.query<{ slug: string }>(
    // To the millisecond, as answers tell it: pages that order by those give projects the same colours.
    "select slug from public.projects where workspace_id = $1 order by date_trunc('milliseconds', created_at), id",
    [workspaceId],
  );
  return rows.map(({ slug }) => slug);
}

/**
 * Changes what is given of a project. Archiving one that is archived keeps the moment it was.
 * @returns whether there was one
 */
export async function updateProjectRow(
  client: ClientBase,
  workspaceId: string,
  slug: string,
  { name, archived }: { name?: string | undefined; archived?: boolean | undefined },
): Promise<boolean> {
  const { rowCount } = await client.query(
    `update public.projects set
       name = coalesce($3, name),
       archived_at = case $4::boolean when true then coalesce(archived_at, now()) when false then null else archived_at end
     where workspace_id = $1 and slug = $2`,
    [workspaceId, slug, name ?? null, archived ?? null],
  );
  return rowCount === 1;
}
