import type { ClientBase } from "pg";
import {
  bigint,
  date,
  integer,
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
import { dayIn } from "@/lib/ledger/days";

/** The first open day of a workspace, `YYYY-MM-DD`; null if no month is closed. The transaction reads as a member of the workspace. */
export async function selectClosedUntil(client: ClientBase, workspaceId: string): Promise<string | null> {
  const row = await selectFirst(
    client,
    { closed_until: nullable(date()) },
    sql`select closed_until from public.workspaces where id = ${workspaceId}`,
  );
  return row?.closed_until ?? null;
}

const closingRow = {
  id: uuid(),
  month: text(),
  amount_usd: numeric(),
  adjustments_usd: numeric(),
  message_count: bigint(),
  unpriced_count: bigint(),
  closed_at: timestamp(),
  closed_by_email: nullable(text()),
  sha256: nullable(text()),
  byte_count: nullable(bigint()),
  reopened_at: nullable(timestamp()),
  reopened_by_email: nullable(text()),
  reopen_reason: nullable(text()),
};

/** A closing as stored; `month` is `YYYY-MM`. */
export type ClosingRow = Row<typeof closingRow>;

/** A workspace's closings, including those of reopened months, latest month first. @param id only this closing */
export function selectClosings(
  client: ClientBase,
  workspaceId: string,
  id: string | null = null,
): Promise<ClosingRow[]> {
  return selectAll(
    client,
    closingRow,
    sql`select id, to_char(month, 'YYYY-MM') as month, trim_scale(amount_usd) as amount_usd, trim_scale(adjustments_usd) as adjustments_usd,
        message_count, unpriced_count, closed_at, closed_by_email, sha256, byte_count, reopened_at, reopened_by_email, reopen_reason
      from public.closed_months
      where workspace_id = ${workspaceId} and (${id}::uuid is null or id = ${id})
      order by closed_months.month desc, closed_at desc`,
  );
}

/** The live sums of each open month that has any, by `YYYY-MM`. */
export function selectOpenMonths(client: ClientBase, workspaceId: string, closedUntil: string | null) {
  return selectAll(
    client,
    { month: neverNull(text()), amount_usd: numeric(), message_count: bigint(), unpriced_count: bigint() },
    sql`select to_char(day, 'YYYY-MM') as month, trim_scale(sum(amount_usd)) as amount_usd, sum(message_count)::bigint as message_count,
        sum(unpriced_count)::bigint as unpriced_count
      from public.daily_totals
      where workspace_id = ${workspaceId} and environment = 'live' and dimension = 'project'
        and day >= coalesce(${closedUntil}::date, '-infinity')
      group by 1`,
  );
}

/** Sums live adjustments by the month that they adjust and the month in which they are booked, both `YYYY-MM` in the time zone. */
export function selectAdjustments(client: ClientBase, workspaceId: string, timeZone: string) {
  return selectAll(
    client,
    { adjusts: neverNull(text()), booked: neverNull(text()), amount_usd: numeric(), entry_count: integer() },
    sql`select to_char(${dayIn(timeZone, sql`adjusts`)}, 'YYYY-MM') as adjusts,
        to_char(${dayIn(timeZone, sql`occurred_at`)}, 'YYYY-MM') as booked,
        trim_scale(sum(amount_usd)) as amount_usd, count(*)::int as entry_count
      from public.messages
      where workspace_id = ${workspaceId} and environment = 'live' and adjusts is not null
      group by 1, 2`,
  );
}

/** Closes a month and all open months before it. Runs as the service, with the claims of an admin. @param firstDay of the month */
export async function closeMonths(client: ClientBase, workspaceId: string, firstDay: string): Promise<void> {
  await callFunction(client, "private.close_months", workspaceId, firstDay);
}

/** Reopens the last closed month. Runs as the service, with the claims of an admin. */
export async function reopenMonth(
  client: ClientBase,
  workspaceId: string,
  closingId: string,
  reason: string,
): Promise<void> {
  await callFunction(client, "private.reopen_month", workspaceId, closingId, reason);
}

const unfiledRow = { workspace_id: uuid(), id: uuid(), month: date() };

/** Locks a closing whose export is not written yet, until the transaction ends. @param workspaceId null for any workspace */
export function lockUnfiledMonth(client: ClientBase, workspaceId: string | null) {
  return selectFirst(
    client,
    unfiledRow,
    sql`select workspace_id, id, month from private.lock_unfiled_month(${workspaceId})`,
  );
}

/** Stores a part of a filed export, in order from 0. @param content gzip */
export async function storeFiledPart(
  client: ClientBase,
  { workspace_id, id }: Pick<Row<typeof unfiledRow>, "workspace_id" | "id">,
  part: number,
  content: Buffer,
): Promise<void> {
  await callFunction(client, "private.store_filed_part", workspace_id, id, part, content.toString("base64"));
}

/** Marks a filed export as written. @param sha256 in hex @param bytes both of the uncompressed export */
export async function finishFiling(
  client: ClientBase,
  { workspace_id, id }: Pick<Row<typeof unfiledRow>, "workspace_id" | "id">,
  sha256: string,
  bytes: number,
): Promise<void> {
  await callFunction(client, "private.finish_filing", workspace_id, id, sha256, bytes);
}

/** A part of a filed export, gzip; null after the last part. Runs as the service. */
export async function selectFiledPart(
  client: ClientBase,
  workspaceId: string,
  closingId: string,
  part: number,
): Promise<Buffer | null> {
  const content = await callFunction<string | null>(
    client,
    "private.filed_part",
    workspaceId,
    closingId,
    part,
  );
  return content === null ? null : Buffer.from(content, "base64");
}
