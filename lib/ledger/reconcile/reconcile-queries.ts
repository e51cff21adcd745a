import type { ClientBase } from "pg";
import {
  bigint,
  boolean,
  integer,
  json,
  nullable,
  numeric,
  type Row,
  text,
  texts,
  timestamp,
  uuid,
} from "@/lib/db/columns";
import { callFunction, execute, selectAll, selectFirst, selectOne } from "@/lib/db/query";
import { type Sql, sql } from "@/lib/db/sql";
import type { Kind } from "./difference";
import * as folds from "./folds-sql";
import * as messages from "./messages-sql";
import type { Month } from "./sums-sql";
import * as sums from "./sums-sql";

/** A row of figures that differ: `stored_…` and `actual_…` columns, and the columns that identify the row. */
export type DifferingRow = { workspace_id: string; workspace: string | null } & Record<string, string | null>;

/** How many rows of one comparison are listed. */
const maxListed = 1_000;

type Found = { rows: DifferingRow[]; unlisted: number };

async function list(client: ClientBase, found: Sql): Promise<Found> {
  // Every value as text: JSON's numbers would lose digits on their way into JavaScript.
  const rows = await selectAll(
    client,
    { row: json<DifferingRow>(), total: bigint() },
    sql`select (select jsonb_object_agg(key, value) from jsonb_each_text(to_jsonb(found))) as row,
        count(*) over () as total
      from (${found}) as found limit ${maxListed}`,
  );
  return {
    rows: rows.map(({ row }) => row),
    unlisted: Math.max(0, Number(rows[0]?.total ?? 0) - rows.length),
  };
}

/** The id of a workspace, by its slug. */
export async function selectWorkspaceId(client: ClientBase, slug: string): Promise<string | undefined> {
  const row = await selectFirst(
    client,
    { id: uuid() },
    sql`select id from public.workspaces where slug = ${slug}`,
  );
  return row?.id;
}

/** The number of workspaces, for the summary. */
export async function countWorkspaces(client: ClientBase): Promise<number> {
  const { count } = await selectOne(
    client,
    { count: bigint() },
    sql`select count(*) as count from public.workspaces`,
  );
  return Number(count);
}

/**
 * Every month that has messages or sums; of one workspace, or of all for null. A message of the first or last day of a month may be of a
 * day of the next month or the one before, in the workspace's time zone.
 */
export function selectMonths(client: ClientBase, workspaceId: string | null): Promise<Month[]> {
  return selectAll(
    client,
    { from: text(), until: text(), hasZones: boolean() },
    sql`select to_char(first_day, 'YYYY-MM-DD"T00:00:00Z"') as from,
       to_char(first_day + interval '1 month', 'YYYY-MM-DD"T00:00:00Z"') as until,
       exists (select from public.workspaces where time_zone <> 'UTC') as "hasZones"
     from (
       select partition.first_day
       from pg_catalog.pg_inherits as i join pg_catalog.pg_class as c on c.oid = i.inhrelid,
         to_date(right(c.relname, 7), 'YYYY_MM') as partition (first_day)
       where i.inhparent = 'public.messages'::regclass and (${workspaceId}::uuid is null or exists (
         select from public.messages as m
         where m.workspace_id = ${workspaceId} and m.occurred_at >= partition.first_day - interval '1 day'
           and m.occurred_at < partition.first_day + interval '1 month 1 day'
       ))
       union
       select date_trunc('month', day)::date from public.daily_spend
       where true ${messages.ofWorkspace(sql`workspace_id`, workspaceId)}
       union
       select date_trunc('month', day)::date from public.daily_totals
       where true ${messages.ofWorkspace(sql`workspace_id`, workspaceId)}
     ) as months
     order by first_day`,
  );
}

/** The sums of a month's days that differ from their messages. */
export function selectDifferingDays(client: ClientBase, month: Month, workspaceId: string | null) {
  return list(client, sums.differingDays({ ...month, workspaceId }));
}

/** The daily totals of a month that differ from its messages. @param workspaceId null for all workspaces */
export function selectDifferingTotals(client: ClientBase, month: Month, workspaceId: string | null) {
  return list(client, sums.differingTotals({ ...month, workspaceId }));
}

/**
 * The sums of a month whose messages were removed that differ from the totals stored then.
 * @param workspaceId null for all workspaces
 */
export function selectDifferingRemoved(client: ClientBase, month: Month, workspaceId: string | null) {
  return list(client, sums.differingRemoved({ ...month, workspaceId }));
}

const wholeLedger = {
  monthly_spend: folds.differingMonths,
  monthly_totals: folds.differingMonthTotals,
  key_spend: sums.differingKeys,
  budget: sums.differingBudgets,
  posting: messages.differingPostings,
  lines: messages.differingLines,
  void: messages.differingVoids,
  idempotency: messages.strayAnswers,
  closed_month: sums.differingClosedMonths,
} satisfies Partial<Record<Kind, (workspaceId: string | null) => Sql>>;

/** What differs of one kind, over all months. @param workspaceId null for all workspaces */
export function selectDiffering(
  client: ClientBase,
  kind: keyof typeof wholeLedger,
  workspaceId: string | null,
): Promise<Found> {
  return list(client, wholeLedger[kind](workspaceId));
}

/** Locks out other repairs of the workspace until the transaction ends. */
export async function lockForRepair(client: ClientBase, workspaceId: string): Promise<void> {
  await execute(
    client,
    sql`select pg_advisory_xact_lock(hashtextextended('outlay.reconcile ' || ${workspaceId}, 0))`,
  );
}

/**
 * Locks the days of a workspace until the transaction ends, and restarts a change of its time zone: the sums that it has made may be
 * wrong, too.
 */
export async function restartZoneChange(client: ClientBase, workspaceId: string): Promise<void> {
  await callFunction(client, "private.hold_budgets", [workspaceId]);
  const staged = sql`(select staging_id from public.time_zone_changes where workspace_id = ${workspaceId})`;
  await execute(client, sql`delete from public.daily_spend where workspace_id = ${staged}`);
  await execute(client, sql`delete from public.daily_totals where workspace_id = ${staged}`);
  await execute(
    client,
    sql`update public.time_zone_changes set covered_until = '-infinity' where workspace_id = ${workspaceId}`,
  );
}

/** Adds the difference to each wrong sum of a month, and removes sums without messages. */
export async function repairDays(client: ClientBase, month: Month, workspaceId: string): Promise<void> {
  const of = { ...month, workspaceId };
  if (await execute(client, sums.repairDays(of))) await execute(client, sums.removeEmptyDays(of));
  if (await execute(client, sums.repairTotals(of))) await execute(client, sums.removeEmptyTotals(of));
}

/** Replaces the spend of keys by month where it differs from their messages. */
export async function repairKeys(client: ClientBase, workspaceId: string): Promise<void> {
  const repaired = await execute(client, sums.repairKeys(workspaceId));
  if (repaired) await execute(client, sums.removeEmptyKeys(workspaceId));
}

/** Replaces the counts of budgets where they differ from the messages that they count. */
export async function repairBudgets(client: ClientBase, workspaceId: string): Promise<void> {
  await execute(client, sums.repairBudgets(workspaceId));
}

/** Removes the monthly sums of a workspace. The job `runFolding` makes them again. */
export async function unfold(client: ClientBase, workspaceId: string): Promise<void> {
  await execute(client, folds.unfold(workspaceId));
}

/** Sets the amounts of voids to the negated amounts of what they void. */
export async function repairVoids(client: ClientBase, workspaceId: string): Promise<void> {
  await execute(client, messages.repairVoids(workspaceId));
}

/** Sets the sum of all lines on the first line of messages where it differs. */
export async function repairLines(client: ClientBase, workspaceId: string): Promise<void> {
  await execute(client, messages.repairLines(workspaceId));
}

/** Deletes stored answers to idempotency keys whose message does not exist. */
export async function removeStrayAnswers(client: ClientBase, workspaceId: string): Promise<void> {
  await execute(client, messages.removeStrayAnswers(workspaceId));
}

const postingRow = {
  part: integer(),
  occurred_at: timestamp(),
  project_id: uuid(),
  amount_usd: numeric(),
  original_amount: nullable(numeric()),
  rate: nullable(text()),
  type: text(),
  details: nullable(json<{ interval?: string; starts_on?: string; from_project?: string }>()),
  source_project_id: nullable(uuid()),
  /** The months (`YYYY-MM`) whose messages were removed after this one was recorded. */
  removed_months: texts(),
};

/** A posting with what its repair needs; decimals are text. */
export type LockedPosting = Row<typeof postingRow>;

/** The postings of a message, locked until the transaction ends. */
export function lockPostings(client: ClientBase, workspaceId: string, id: string): Promise<LockedPosting[]> {
  return selectAll(client, postingRow, messages.lockPostings({ workspaceId, id }));
}

/** Sets the amount of a posting. @param amount USD, decimal text */
export async function changePosting(
  client: ClientBase,
  message: { workspaceId: string; id: string },
  part: number,
  amount: string,
): Promise<void> {
  await execute(client, messages.changePosting(message, part, amount));
}

/** Inserts a missing posting of a message, with the other columns of one that exists. */
export async function restorePosting(
  client: ClientBase,
  message: { workspaceId: string; id: string },
  posting: messages.NewPosting,
): Promise<void> {
  await callFunction(client, "private.ensure_messages_month", posting.occurredAt);
  await execute(client, messages.restorePosting(message, posting));
}
