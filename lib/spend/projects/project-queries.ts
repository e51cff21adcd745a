import type { ClientBase } from "pg";
import type { DayRange } from "@/lib/contract/values/month";
import { date, nullable, numeric, type Row, text, timestamp, uuid } from "@/lib/db/columns";
import { execute, selectAll } from "@/lib/db/query";
import { empty, join, type Sql, sql } from "@/lib/db/sql";
import type { Display } from "@/lib/ledger/pricing/display-currency";
import { convertedAt } from "@/lib/spend/conversion";
import { rowsOfTotals, startOfMonth, type TotalsTable } from "@/lib/spend/folded-days";
import { everything } from "@/lib/spend/period";

const projectRow = {
  id: uuid(),
  slug: text(),
  name: text(),
  archived_at: nullable(timestamp()),
  created_at: timestamp(),
  range_usd: numeric(),
  /** `range_usd` in another currency, each day converted at its rate; null if none is requested. */
  range_converted: nullable(numeric()),
  range_message_count: numeric(),
  message_count: numeric(),
  last_activity_on: nullable(date()),
};

/** A project as stored, with its live spend (USD as exact text). */
export type ProjectRow = Row<typeof projectRow>;

/** The days to read: `from` to `until` for the spend of the range, all up to `today` for the last activity. */
export type ProjectDays = DayRange & {
  today: string;
  /** The day before which sums are folded; null if none are. */
  foldedUntil: string | null;
};

/** The condition for the live totals by project of a workspace. */
const ofProjects = (workspaceId: string) =>
  sql`workspace_id = ${workspaceId} and environment = 'live' and dimension = 'project'`;

/**
 * A workspace's projects, active ones first, then by name.
 * @param slug only this one
 * @param display a second currency for the spend of the range
 */
export function selectProjects(
  client: ClientBase,
  workspaceId: string,
  days: ProjectDays,
  slug: string | null = null,
  display?: Display,
): Promise<ProjectRow[]> {
  const { from, until, today, foldedUntil } = days;
  const isOfProjects = ofProjects(workspaceId);
  const totals = rowsAround(
    days,
    // Each day is converted at its own rate.
    display !== undefined,
    (table, part) => sql`
      select value, ${table.day}, amount_usd, message_count, ${table.isFolded} as is_folded from ${table.name}
      where ${isOfProjects} and ${table.day} >= ${part.from} and ${table.day} < ${part.until}`,
  );
  const converted = display
    ? sql`sum(${convertedAt(display, sql`amount_usd`, sql`day`)}) filter (where day >= ${from} and day < ${until})`
    : sql`null::numeric`;
  return selectAll(
    client,
    projectRow,
    sql`select p.id, p.slug, p.name, p.archived_at, p.created_at,
       trim_scale(coalesce(spend.range_usd, 0)) as range_usd,
       ${display ? sql`trim_scale(coalesce(spend.range_converted, 0))` : sql`null::numeric`} as range_converted,
       coalesce(spend.range_message_count, 0) as range_message_count,
       coalesce(spend.message_count, 0) as message_count,
       -- A month says that it has activity, but not of which day.
       case when spend.last_day > spend.last_folded or spend.last_folded is null then spend.last_day else (
         select max(day) from public.daily_totals
         where ${isOfProjects} and value = spend.value and day < ${foldedUntil}
           and day >= spend.last_folded and day < (spend.last_folded + interval '1 month')::date
       ) end as last_activity_on
     from public.projects as p
     left join (
       select value,
         sum(amount_usd) filter (where day >= ${from} and day < ${until}) as range_usd,
         ${converted} as range_converted,
         sum(message_count) filter (where day >= ${from} and day < ${until}) as range_message_count,
         sum(message_count) as message_count,
         max(day) filter (where not is_folded and day <= ${today}) as last_day,
         max(day) filter (where is_folded) as last_folded
       from (${totals}) as total
       group by value
     ) as spend on spend.value = p.id::text
     where p.workspace_id = ${workspaceId} ${slug === null ? empty : sql`and p.slug = ${slug}`}
     order by p.archived_at is not null, lower(p.name), p.slug`,
  );
}

/**
 * The totals of all days, divided so that each row is either in the range or outside of it. If the range begins or ends within a
 * folded month, that month is read by day.
 * @param isByDay whether each day of the range needs a row of its own
 */
function rowsAround(
  { from, until, foldedUntil }: ProjectDays,
  isByDay: boolean,
  select: (table: TotalsTable, part: DayRange) => Sql,
): Sql {
  const isWithinFold = (day: string) =>
    day !== everything.from &&
    foldedUntil !== null &&
    day < foldedUntil &&
    (isByDay || startOfMonth(day) !== day);
  const ends = [...[from, until].filter(isWithinFold), everything.until];
  return join(
    ends.map((end, index) => {
      const part = { from: ends[index - 1] ?? everything.from, until: end };
      return rowsOfTotals(part, isByDay && part.from === from ? null : foldedUntil, select);
    }),
    " union all ",
  );
}

const spendOfBucket = { slug: text(), bucket: text(), amount: numeric() };

/**
 * What each project cost on each day or in each month of a range, live, USD as exact text, in the order of time. A project without
 * spend has no row.
 * @param foldedUntil the day before which sums are folded; null if none are
 */
export function selectProjectBuckets(
  client: ClientBase,
  workspaceId: string,
  range: DayRange,
  bucket: "day" | "month",
  foldedUntil: string | null,
): Promise<Row<typeof spendOfBucket>[]> {
  const totals = rowsOfTotals(
    range,
    bucket === "day" ? null : foldedUntil,
    (table, part) => sql`
      select value, ${table.day} as day, amount_usd from ${table.name}
      where ${ofProjects(workspaceId)} and ${table.day} >= ${part.from} and ${table.day} < ${part.until}`,
  );
  return selectAll(
    client,
    spendOfBucket,
    sql`select p.slug, to_char(spend.bucket, 'YYYY-MM-DD') as bucket, spend.amount
      from (
        select value, date_trunc(${bucket}, day::timestamp) as bucket, sum(amount_usd) as amount
        from (${totals}) as total
        group by 1, 2
      ) as spend
      join public.projects as p on p.workspace_id = ${workspaceId} and p.id::text = spend.value
      order by spend.bucket`,
  );
}

/** The slugs of a workspace's projects in order of creation. */
export async function selectProjectSlugs(client: ClientBase, workspaceId: string): Promise<string[]> {
  const rows = await selectAll(
    client,
    { slug: text() },
    // Sorted by milliseconds, the precision of responses, so that every page assigns the same colours to projects.
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
    // Runs without changes, too, to find out whether the project exists.
    sql`update public.projects set ${join(changes.length > 0 ? changes : [sql`name = name`])}
      where workspace_id = ${workspaceId} and slug = ${slug}`,
  );
  return changed === 1;
}
