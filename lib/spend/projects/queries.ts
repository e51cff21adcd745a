import type { ClientBase } from "pg";
import type { DayRange } from "@/lib/contract/month";
import { date, nullable, numeric, type Row, text, timestamp, uuid } from "@/lib/db/columns";
import { execute, selectAll } from "@/lib/db/query";
import { empty, join, sql } from "@/lib/db/sql";
import type { Display } from "@/lib/ledger/pricing/display-currency";
import { convertedAt } from "@/lib/spend/conversion";
import { rowsOfTotals } from "@/lib/spend/folded-days";
import { everything } from "@/lib/spend/period";

const projectRow = {
  id: uuid(),
  slug: text(),
  name: text(),
  archived_at: nullable(timestamp()),
  created_at: timestamp(),
  month_usd: numeric(),
  /** The same in another currency, each day converted at its rate; null where none is asked for. */
  month_converted: nullable(numeric()),
  month_message_count: numeric(),
  message_count: numeric(),
  last_activity_on: nullable(date()),
};

/** A project as stored, with its live spend (USD as exact text). */
export type ProjectRow = Row<typeof projectRow>;

/** Which days count: `from` to `until` as the month's spend, all up to `today` as the last activity. */
export type ProjectDays = DayRange & {
  today: string;
  /** The day before which sums are folded; null where none are. */
  foldedUntil: string | null;
};

/**
 * A workspace's projects, active ones first, then by name.
 * @param slug only this one
 * @param display the currency in which the month's spend is wanted besides USD
 */
export function selectProjects(
  client: ClientBase,
  workspaceId: string,
  { from, until, today, foldedUntil }: ProjectDays,
  slug: string | null = null,
  display?: Display,
): Promise<ProjectRow[]> {
  const ofProjects = sql`workspace_id = ${workspaceId} and environment = 'live' and dimension = 'project'`;
  // Each day has a rate of its own: of the days that are converted, none are read folded.
  const readFolded = display && foldedUntil !== null && foldedUntil > from ? from : foldedUntil;
  const totals = rowsOfTotals(
    everything,
    readFolded,
    "month",
    (table, days) => sql`
      select value, ${table.day}, amount_usd, message_count, ${table.isFolded} as is_folded from ${table.name}
      where ${ofProjects} and ${table.day} >= ${days.from} and ${table.day} < ${days.until}`,
  );
  const converted = display
    ? sql`sum(${convertedAt(display, sql`amount_usd`, sql`day`)}) filter (where day >= ${from} and day < ${until})`
    : sql`null::numeric`;
  return selectAll(
    client,
    projectRow,
    sql`select p.id, p.slug, p.name, p.archived_at, p.created_at,
       trim_scale(coalesce(spend.month_usd, 0)) as month_usd,
       ${display ? sql`trim_scale(coalesce(spend.month_converted, 0))` : sql`null::numeric`} as month_converted,
       coalesce(spend.month_message_count, 0) as month_message_count,
       coalesce(spend.message_count, 0) as message_count,
       -- A month says that it has activity, but not of which day.
       coalesce(spend.last_day, (
         select latest.day
         from (
           select max(first_day) as first_day from public.weekly_totals
           where ${ofProjects} and value = spend.value
             and first_day >= spend.last_month and first_day < spend.last_month + 31
         ) as week
         cross join lateral (
           select max(day) as day from public.daily_totals
           where ${ofProjects} and value = spend.value and day < ${readFolded}
             and day >= week.first_day and day < week.first_day + 7
         ) as latest
       )) as last_activity_on
     from public.projects as p
     left join (
       select value,
         sum(amount_usd) filter (where day >= ${from} and day < ${until}) as month_usd,
         ${converted} as month_converted,
         sum(message_count) filter (where day >= ${from} and day < ${until}) as month_message_count,
         sum(message_count) as message_count,
         max(day) filter (where not is_folded and day <= ${today}) as last_day,
         max(day) filter (where is_folded) as last_month
       from (${totals}) as total
       group by value
     ) as spend on spend.value = p.id::text
     where p.workspace_id = ${workspaceId} ${slug === null ? empty : sql`and p.slug = ${slug}`}
     order by p.archived_at is not null, lower(p.name), p.slug`,
  );
}

const spendOfDay = { slug: text(), day: text(), amount: numeric() };

/** What each project cost on each of some days, live, USD as exact text; a day without any spend has no row. */
export function selectProjectDays(
  client: ClientBase,
  workspaceId: string,
  { from, until }: DayRange,
): Promise<Row<typeof spendOfDay>[]> {
  return selectAll(
    client,
    spendOfDay,
    sql`select p.slug, to_char(spend.day, 'YYYY-MM-DD') as day, sum(spend.amount_usd) as amount
      from public.daily_totals as spend
      join public.projects as p on p.workspace_id = spend.workspace_id and p.id::text = spend.value
      where spend.workspace_id = ${workspaceId} and spend.environment = 'live' and spend.dimension = 'project'
        and spend.day >= ${from} and spend.day < ${until}
      group by p.slug, spend.day`,
  );
}

/** The slugs of a workspace's projects in order of creation. */
export async function selectProjectSlugs(client: ClientBase, workspaceId: string): Promise<string[]> {
  const rows = await selectAll(
    client,
    { slug: text() },
    // In milliseconds, as in responses, so that every page assigns the same colours to projects.
    sql`select slug from public.projects where workspace_id = ${workspaceId}
      order by date_trunc('milliseconds', created_at), id`,
  );
  return rows.map(({ slug }) => slug);
}

/**
 * Changes the given fields of a project. Archiving an archived project keeps its `archived_at`.
 * @returns whether the project exists
 */
export async function updateProjectRow(
  client: ClientBase,
  workspaceId: string,
  slug: string,
  { name, archived }: { name?: string | undefined; archived?: boolean | undefined },
): Promise<boolean> {
  const changes = [
    ...(name === undefined ? [] : [sql`name = ${name}`]),
    ...(archived === undefined
      ? []
      : [archived ? sql`archived_at = coalesce(archived_at, now())` : sql`archived_at = null`]),
  ];
  const changed = await execute(
    client,
    // Without changes it still reports whether the project exists.
    sql`update public.projects set ${join(changes.length > 0 ? changes : [sql`name = name`])}
      where workspace_id = ${workspaceId} and slug = ${slug}`,
  );
  return changed === 1;
}
