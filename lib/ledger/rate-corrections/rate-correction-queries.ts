import type { ClientBase } from "pg";
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
import { callFunction, execute, selectAll } from "@/lib/db/query";
import { sql } from "@/lib/db/sql";

const workspaceRow = { id: uuid(), slug: text() };

/** All workspaces that are not deleted, or only the one with a slug. */
export function selectWorkspaces(client: ClientBase, slug: string | null) {
  return selectAll(
    client,
    workspaceRow,
    sql`select id, slug from public.workspaces
      where deleted_at is null and (${slug}::text is null or slug = ${slug}) order by slug`,
  );
}

const headRow = {
  id: uuid(),
  occurred_at: timestamp(),
  dated_at: neverNull(timestamp()),
  created_at: timestamp(),
  currency: neverNull(text()),
  original_amount: neverNull(numeric()),
  price: neverNull(json<{ rate: string; date: string; source: string }>()),
};

/** The first posting of a converted message, with its exchange rate. `dated_at`: when its cost occurred. */
export type ConvertedHead = Row<typeof headRow>;

/** The next converted messages of a workspace, in the order of time, without voids and voided messages. */
export function selectConverted(
  client: ClientBase,
  workspaceId: string,
  after: Pick<ConvertedHead, "id" | "occurred_at"> | undefined,
  atMost: number,
): Promise<ConvertedHead[]> {
  const { id = "00000000-0000-0000-0000-000000000000", occurred_at: at = new Date(0) } = after ?? {};
  return selectAll(
    client,
    headRow,
    sql`select id, occurred_at, coalesce(adjusts, occurred_at) as dated_at, created_at, currency, original_amount, price from public.messages
      where workspace_id = ${workspaceId} and cost_status = 'converted' and type in ('expense', 'subscription') and part = 0
        and voids is null and voided_by is null
        and (occurred_at, id) > (${at.toISOString()}::timestamptz, ${id}::uuid)
      order by occurred_at, id limit ${atMost}`,
  );
}

const postingRow = {
  id: uuid(),
  part: integer(),
  occurred_at: timestamp(),
  amount_usd: numeric(),
  interval: nullable(text()),
  key_name: nullable(text()),
};

/** A posting of a converted message. `interval`: of a subscription. */
export type ConvertedPosting = Row<typeof postingRow>;

/**
 * Locks the postings of messages until the transaction ends. Leaves out voided messages and those with a posting that is booked in a
 * closed month.
 */
export function lockConvertedPostings(
  client: ClientBase,
  workspaceId: string,
  ids: string[],
): Promise<ConvertedPosting[]> {
  return selectAll(
    client,
    postingRow,
    sql`select m.id, m.part, m.occurred_at, m.amount_usd, m.details ->> 'interval' as interval, k.name as key_name
      from public.messages as m
      left join public.api_keys as k on k.workspace_id = m.workspace_id and k.id = m.api_key_id
      where m.workspace_id = ${workspaceId} and m.id = any(${ids}::uuid[]) and m.cost_status = 'converted'
        and m.voids is null and m.voided_by is null
        and not exists (
          select from public.messages as booked
          where booked.workspace_id = m.workspace_id and booked.id = m.id
            and private.local_time(booked.occurred_at, private.time_zone_of(m.workspace_id)) < private.closed_until(m.workspace_id)
        )
      order by m.occurred_at, m.id, m.part
      for update of m`,
  );
}

const budgetRow = {
  budget_id: uuid(),
  name: text(),
  environment: text(),
  period_from: date(),
  spent_usd: numeric(),
};

/** The counted spend of a budget in a period, USD. */
export type BudgetCount = Row<typeof budgetRow>;

/** The counted spend of budgets in every period, after counting the waiting spend. Locks the budgets. */
export async function selectBudgetCounts(client: ClientBase, workspaceId: string): Promise<BudgetCount[]> {
  await callFunction(client, "private.hold_budgets", [workspaceId]);
  await callFunction(client, "private.count_waiting_spend", workspaceId);
  return selectAll(
    client,
    budgetRow,
    sql`select c.budget_id, b.name, c.environment, c.period_from, c.spent_usd
      from public.budget_counts as c
      join public.budgets as b on b.workspace_id = c.workspace_id and b.id = c.budget_id
      where c.workspace_id = ${workspaceId}`,
  );
}

/** Changes the amounts of postings and every sum that they are part of. @returns the change of the total, USD as text */
export async function applyChanges(
  client: ClientBase,
  workspaceId: string,
  changes: object[],
): Promise<string> {
  const change = await callFunction<string | null>(
    client,
    "private.apply_repricing",
    workspaceId,
    JSON.stringify(changes),
  );
  return change ?? "0";
}

/** Adds an entry to a workspace's audit log. */
export async function auditCorrection(client: ClientBase, workspaceId: string, after: object): Promise<void> {
  await execute(
    client,
    sql`insert into public.audit_log (workspace_id, action, subject, after)
      values (${workspaceId}, 'messages.converted', 'workspace ' || ${workspaceId}::text, ${JSON.stringify(after)}::jsonb)`,
  );
}
