import type { ClientBase } from "pg";
import type { BookablePart } from "@/lib/contract/bills/difference-parts";
import {
  date,
  integer,
  json,
  neverNull,
  nullable,
  numeric,
  type Row,
  text,
  timestamp,
  uuid,
} from "@/lib/db/columns";
import { callFunction, selectAll, selectFirst } from "@/lib/db/query";
import { sql } from "@/lib/db/sql";

const byMonth = { month: neverNull(text()), provider: text(), amount_usd: neverNull(numeric()) };

/** The sums of adjustments by month (`YYYY-MM`) and provider, USD. */
export function selectAdjustedByMonth(client: ClientBase, workspaceId: string) {
  return selectAll(
    client,
    byMonth,
    sql`select to_char(day, 'YYYY-MM') as month, provider, trim_scale(sum(amount_usd)) as amount_usd
      from public.adjusted_differences
      where workspace_id = ${workspaceId} and not is_voided
      group by 1, 2
      order by 1, 2`,
  );
}

const adjustedRow = {
  provider: text(),
  day: date(),
  model: nullable(text()),
  part: text<BookablePart>(),
  amount_usd: neverNull(numeric()),
};

/** The sums of adjustments on some days, by the provider, day, model and part of the bill. The last day is exclusive. */
export function selectAdjusted(client: ClientBase, workspaceId: string, from: string, until: string) {
  return selectAll(
    client,
    adjustedRow,
    sql`select provider, day, model, part, trim_scale(sum(amount_usd)) as amount_usd
      from public.adjusted_differences
      where workspace_id = ${workspaceId} and not is_voided and day >= ${from} and day < ${until}
      group by 1, 2, 3, 4
      order by 1, 2, 3, 4`,
  );
}

type Slice = { part: BookablePart; amount_usd: string };
type DaySlice = { day: string; provider: string; amount_usd: string };

const adjustmentRow = {
  id: uuid(),
  month: neverNull(text()),
  project_slug: nullable(text()),
  project_name: nullable(text()),
  amount_usd: numeric(),
  standing_usd: neverNull(numeric()),
  message_count: integer(),
  parts: neverNull(json<Slice[]>()),
  days: neverNull(json<DaySlice[]>()),
  created_at: timestamp(),
  created_by_email: nullable(text()),
  undone_at: nullable(timestamp()),
  undone_by_email: nullable(text()),
};

/** A booking as stored; amounts are exact text. */
export type AdjustmentRow = Row<typeof adjustmentRow>;

/** The bookings of a workspace, latest first. @param only an id or a month (`YYYY-MM`) to filter by */
export function selectAdjustments(
  client: ClientBase,
  workspaceId: string,
  { id = null, month = null }: { id?: string | null; month?: string | null },
  limit: number,
): Promise<AdjustmentRow[]> {
  return selectAll(
    client,
    adjustmentRow,
    sql`select a.id, to_char(a.month, 'YYYY-MM') as month, p.slug as project_slug, p.name as project_name,
        trim_scale(a.amount_usd) as amount_usd, sums.standing_usd, a.message_count, sums.parts, sums.days,
        a.created_at, a.created_by_email, a.undone_at, a.undone_by_email
      from public.bill_adjustments as a
      left join public.projects as p on p.workspace_id = a.workspace_id and p.id = a.project_id
      cross join lateral (
        select coalesce(trim_scale((
            select sum(d.amount_usd) from public.adjusted_differences as d
            where d.workspace_id = a.workspace_id and d.adjustment_id = a.id and not d.is_voided
          )), 0) as standing_usd,
          coalesce((
            select json_agg(json_build_object('part', s.part, 'amount_usd', trim_scale(s.usd)::text) order by s.part)
            from (
              select d.part, sum(d.amount_usd) as usd from public.adjusted_differences as d
              where d.workspace_id = a.workspace_id and d.adjustment_id = a.id group by 1
            ) as s
          ), '[]') as parts,
          coalesce((
            select json_agg(json_build_object('day', s.day, 'provider', s.provider, 'amount_usd', trim_scale(s.usd)::text)
              order by s.day, s.provider)
            from (
              select d.day, d.provider, sum(d.amount_usd) as usd from public.adjusted_differences as d
              where d.workspace_id = a.workspace_id and d.adjustment_id = a.id group by 1, 2
            ) as s
          ), '[]') as days
      ) as sums
      where a.workspace_id = ${workspaceId} and (${id}::uuid is null or a.id = ${id}::uuid)
        and (${month}::text is null or a.month = (${month} || '-01')::date)
      order by a.created_at desc, a.id desc
      limit ${limit}`,
  );
}

/** A message of a booking. `billed_provider` and `billed_model`: the names on the bill, by which later reconciliations find it. */
export type AdjustmentMessage = {
  id: string;
  occurred_at: string;
  provider: string;
  model: string | null;
  label: string;
  part: BookablePart;
  amount_usd: string;
  billed_provider: string;
  billed_model: string | null;
  day: string;
};

const projectRow = { id: uuid(), slug: text(), name: text() };

/** A project by its slug; undefined if the workspace has no such project. */
export function selectProjectOf(client: ClientBase, workspaceId: string, slug: string) {
  return selectFirst(
    client,
    projectRow,
    sql`select id, slug, name from public.projects where workspace_id = ${workspaceId} and slug = ${slug}`,
  );
}

/** Locks the bills and adjustments of a workspace until the transaction ends. Runs as the service. */
export async function lockBills(client: ClientBase, workspaceId: string): Promise<void> {
  await callFunction(client, "private.lock_bills", workspaceId);
}

/** Books differences. Runs as the service, with the claims of an admin. */
export async function bookAdjustment(
  client: ClientBase,
  workspaceId: string,
  booking: { id: string; month: string; project_id: string; messages: AdjustmentMessage[] },
): Promise<void> {
  await callFunction(client, "private.book_bill_adjustment", workspaceId, JSON.stringify(booking));
}

/** Undoes a booking. Runs as the service, with the claims of an admin. @returns `removed`: old messages of it were removed */
export function undoAdjustment(
  client: ClientBase,
  workspaceId: string,
  id: string,
): Promise<"undone" | "unknown" | "removed"> {
  return callFunction(client, "private.undo_bill_adjustment", workspaceId, id);
}
