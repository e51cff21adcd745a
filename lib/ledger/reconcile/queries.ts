import type { ClientBase } from "pg";
import type { Kind } from "./difference";
import * as messages from "./messages-sql";
import * as sums from "./sums-sql";

/** A row of figures that differ: `stored_…` and `actual_…` columns beside what they are of. */
export type DifferingRow = { workspace_id: string; workspace: string | null } & Record<string, string | null>;

/** A month of UTC days: from the first instant until before the second. */
export type Month = { from: string; until: string };

/** Rows listed of one comparison. Where more differ, the first ones tell what is wrong. */
const maxListed = 1_000;

type Found = { rows: DifferingRow[]; unlisted: number };

async function list(client: ClientBase, sql: string, values: unknown[]): Promise<Found> {
  // Every value as text: JSON's numbers would lose digits on their way into JavaScript.
  const { rows } = await client.query<{ row: DifferingRow; total: string }>(
    `select (select jsonb_object_agg(key, value) from jsonb_each_text(to_jsonb(found))) as row, count(*) over () as total
     from (${sql}) as found limit ${maxListed}`,
    values,
  );
  return {
    rows: rows.map(({ row }) => row),
    unlisted: Math.max(0, Number(rows[0]?.total ?? 0) - rows.length),
  };
}

/** The id of a workspace, by its slug. */
export async function selectWorkspaceId(client: ClientBase, slug: string): Promise<string | undefined> {
  const { rows } = await client.query("select id from public.workspaces where slug = $1", [slug]);
  return rows[0]?.id;
}

/** How many workspaces there are, for the summary. */
export async function countWorkspaces(client: ClientBase): Promise<number> {
  const { rows } = await client.query("select count(*) from public.workspaces");
  return Number(rows[0].count);
}

/** Every month that has messages or sums. */
export async function selectMonths(client: ClientBase, workspaceId: string | null): Promise<Month[]> {
  const { rows } = await client.query(
    `select to_char(first_day, 'YYYY-MM-DD"T00:00:00Z"') as from,
       to_char(first_day + interval '1 month', 'YYYY-MM-DD"T00:00:00Z"') as until
     from (
       select to_date(right(c.relname, 7), 'YYYY_MM') as first_day
       from pg_catalog.pg_inherits as i join pg_catalog.pg_class as c on c.oid = i.inhrelid
       where i.inhparent = 'public.messages'::regclass
       union
       select date_trunc('month', day)::date from public.daily_spend where $1::uuid is null or workspace_id = $1
       union
       select date_trunc('month', day)::date from public.daily_totals where $1::uuid is null or workspace_id = $1
     ) as months
     order by first_day`,
    [workspaceId],
  );
  return rows;
}

/** Everything that differs of one kind; months are needed for the sums of days alone. */
export function selectDifferingDays(client: ClientBase, { from, until }: Month, workspaceId: string | null) {
  return list(client, sums.differingDays, [from, until, workspaceId]);
}

export function selectDifferingTotals(
  client: ClientBase,
  { from, until }: Month,
  workspaceId: string | null,
) {
  return list(client, sums.differingTotals, [from, until, workspaceId]);
}

const wholeLedger = {
  key_spend: sums.differingKeys,
  batch: messages.differingBatches,
  posting: messages.differingPostings,
  idempotency: messages.strayAnswers,
} satisfies Partial<Record<Kind, string>>;

export function selectDiffering(
  client: ClientBase,
  kind: keyof typeof wholeLedger,
  workspaceId: string | null,
): Promise<Found> {
  return list(client, wholeLedger[kind], [workspaceId]);
}

/** Workspaces that have budgets. */
export async function selectBudgeted(
  client: ClientBase,
  workspaceId: string | null,
): Promise<{ id: string; slug: string }[]> {
  const { rows } = await client.query(
    `select id, slug from public.workspaces as w
     where ($1::uuid is null or id = $1) and exists (select from public.budgets as b where b.workspace_id = w.id)
     order by slug`,
    [workspaceId],
  );
  return rows;
}

/** What the messages of a month come to for each budget of a workspace, by the budget's id. */
export async function sumForBudgets(
  client: ClientBase,
  { from, until }: Month,
  workspaceId: string,
  environment: "live" | "test",
): Promise<Map<string, string>> {
  const { rows } = await client.query(messages.budgetSums.replace("%entries%", sums.entries), [
    from,
    until,
    workspaceId,
    environment,
  ]);
  return new Map(rows.map(({ id, amount_usd }) => [id, amount_usd]));
}

/** The time by the database's clock, milliseconds since 1970: which month budgets are of. */
export async function readClock(client: ClientBase): Promise<number> {
  const { rows } = await client.query("select extract(epoch from now())::float8 * 1000 as now");
  return rows[0].now;
}

/** Keeps a second repair of the workspace waiting until this transaction ends. */
export async function lockForRepair(client: ClientBase, workspaceId: string): Promise<void> {
  await client.query("select pg_advisory_xact_lock(hashtextextended('outlay.reconcile ' || $1, 0))", [
    workspaceId,
  ]);
}

export async function mendBatches(client: ClientBase, workspaceId: string, ids: string[]): Promise<void> {
  await client.query(messages.mendBatches, [workspaceId, ids]);
}

/** Adds to each sum of a month what it lacks, and removes sums of nothing. */
export async function mendDays(
  client: ClientBase,
  { from, until }: Month,
  workspaceId: string,
): Promise<void> {
  const values = [from, until, workspaceId];
  const { rowCount } = await client.query(sums.mendDays, values);
  if (rowCount) await client.query(sums.removeEmptyDays, values);
  const { rowCount: totals } = await client.query(sums.mendTotals, values);
  if (totals) await client.query(sums.removeEmptyTotals, values);
}

export async function mendKeys(client: ClientBase, workspaceId: string): Promise<void> {
  const { rowCount } = await client.query(sums.mendKeys, [workspaceId]);
  if (rowCount) await client.query(sums.removeEmptyKeys, [workspaceId]);
}

export async function removeStrayAnswers(client: ClientBase, workspaceId: string): Promise<void> {
  await client.query(messages.removeStrayAnswers, [workspaceId]);
}

/** A posting as its mending needs it; decimals are text. */
export type StoredPosting = {
  part: number;
  occurred_at: Date;
  project_id: string;
  amount_usd: string;
  original_amount: string | null;
  rate: string | null;
  type: string;
  details: { interval?: string; starts_on?: string; from_project?: string } | null;
  source_project_id: string | null;
};

export async function lockPostings(
  client: ClientBase,
  workspaceId: string,
  id: string,
): Promise<StoredPosting[]> {
  const { rows } = await client.query(messages.lockPostings, [workspaceId, id]);
  return rows;
}

export async function changePosting(
  client: ClientBase,
  message: { workspaceId: string; id: string },
  part: number,
  amount: string,
): Promise<void> {
  await client.query(messages.changePosting, [message.workspaceId, message.id, part, amount]);
}

/** Makes a posting that is missing, after the pattern of one that is there. */
export async function restorePosting(
  client: ClientBase,
  message: { workspaceId: string; id: string },
  posting: { part: number; amount: string; occurredAt: string; projectId: string },
): Promise<void> {
  const { part, amount, occurredAt, projectId } = posting;
  await client.query("select private.ensure_messages_month($1)", [occurredAt]);
  await client.query(messages.restorePosting, [
    message.workspaceId,
    message.id,
    part,
    amount,
    occurredAt,
    projectId,
  ]);
}
