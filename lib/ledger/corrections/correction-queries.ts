import type { ClientBase } from "pg";
import type { CostStatus } from "@/lib/contract/ledger/ingest-result";
import type { MessageType } from "@/lib/contract/ledger/message";
import {
  boolean,
  integer,
  neverNull,
  nullable,
  numeric,
  type Row,
  text,
  texts,
  timestamp,
  uuid,
} from "@/lib/db/columns";
import { callFunction, execute, selectFirst } from "@/lib/db/query";
import { sql } from "@/lib/db/sql";
import type { BlockingBudgetRow } from "@/lib/keys/blocking-budgets";
import type { LedgerRow } from "@/lib/ledger/ingest/ledger";
import { isOwnRecord } from "./right";

const costRow = {
  type: text<MessageType>(),
  occurred_at: neverNull(timestamp()),
  voids: nullable(uuid()),
  voided_by: nullable(uuid()),
  is_own: boolean(),
  missing: integer(),
};

/**
 * A message that is to be voided. `occurred_at`: for an adjustment, when its cost occurred. `missing`: how many of its postings were
 * removed with their months.
 */
export type StoredCost = Row<typeof costRow>;

/**
 * Loads what decides whether a message can be voided, and by whom.
 * @param userId sets `is_own` if this user recorded the message by hand, from a file or with an assistant
 */
export function selectCost(
  client: ClientBase,
  workspaceId: string,
  id: string,
  userId: string,
): Promise<StoredCost | undefined> {
  return selectFirst(
    client,
    costRow,
    sql`select m.type, coalesce(m.adjusts, m.occurred_at) as occurred_at, m.voids, m.voided_by,
        ${isOwnRecord(sql`k`, userId)} as is_own,
        case when m.type = 'subscription' and m.details ->> 'interval' = 'year'
          then 12 - count(*) over () else 0 end::int as missing
      from public.messages as m
      left join public.api_keys as k on k.workspace_id = m.workspace_id and k.id = m.api_key_id
      where m.workspace_id = ${workspaceId} and m.id = ${id}
      order by m.part limit 1`,
  );
}

const voidRow = {
  void_id: uuid(),
  message_id: uuid(),
  reason: text(),
  created_at: timestamp(),
  idempotency_key: nullable(text()),
  request_hash: nullable(text()),
  corrected_by: nullable(uuid()),
};

const correctionRow = { amount_usd: numeric(), cost_statuses: texts<CostStatus>() };

/** A void as stored, with what its correction costs. */
export type StoredVoid = Row<typeof voidRow> & { correction: Row<typeof correctionRow> | undefined };

/** The void of a message; undefined if it is not voided. */
export async function selectVoid(
  client: ClientBase,
  workspaceId: string,
  messageId: string,
): Promise<StoredVoid | undefined> {
  const stored = await selectFirst(
    client,
    voidRow,
    sql`select void_id, message_id, reason, created_at, idempotency_key, request_hash, corrected_by
      from public.message_voids
      where workspace_id = ${workspaceId} and message_id = ${messageId}`,
  );
  if (!stored) return undefined;
  if (stored.corrected_by === null) return { ...stored, correction: undefined };
  // A statement of its own, because it is planned for the partition of every month.
  const correction = await selectFirst(
    client,
    correctionRow,
    sql`select trim_scale(sum(amount_usd)) as amount_usd, array_agg(distinct cost_status) as cost_statuses
      from public.messages
      where workspace_id = ${workspaceId} and id = ${stored.corrected_by}
      having count(*) > 0`,
  );
  return { ...stored, correction };
}

/** Voids a message: a trigger of the table posts its void. Violates `message_voids_pkey` if the message is voided already. */
export async function insertVoid(
  client: ClientBase,
  row: {
    workspaceId: string;
    messageId: string;
    reason: string;
    idempotencyKey: string | undefined;
    requestHash: string;
  },
): Promise<void> {
  const { workspaceId, messageId, reason, idempotencyKey = null, requestHash } = row;
  await execute(
    client,
    sql`insert into public.message_voids (workspace_id, message_id, reason, idempotency_key, request_hash)
      values (${workspaceId}, ${messageId}, ${reason}, ${idempotencyKey}, ${requestHash})`,
  );
}

const projectRow = { id: uuid() };

/** The id of a project; undefined if the workspace has no project with this slug. */
export async function selectProjectId(
  client: ClientBase,
  workspaceId: string,
  slug: string,
): Promise<string | undefined> {
  const row = await selectFirst(
    client,
    projectRow,
    sql`select id from public.projects where workspace_id = ${workspaceId} and slug = ${slug}`,
  );
  return row?.id;
}

/** A posting of a correction. The database takes its key, environment and source from the message that it corrects. */
export type CorrectedPosting = Omit<LedgerRow, "workspace_id" | "api_key_id" | "environment" | "source">;

/** Records the postings that replace a message which this transaction has voided, and updates the sums that they are part of. */
export async function recordCorrection(
  client: ClientBase,
  workspaceId: string,
  messageId: string,
  postings: CorrectedPosting[],
): Promise<void> {
  await callFunction(client, "private.record_correction", workspaceId, messageId, JSON.stringify(postings));
}

/** Locks the spend of the workspace's blocking budgets until the transaction ends. Runs as the service. */
export async function lockBlockingBudgets(client: ClientBase, workspaceId: string): Promise<void> {
  await callFunction(client, "private.hold_blocking_budgets", workspaceId);
}

/**
 * A blocking budget that this transaction's voids and corrections took past its limit; null if there is none. Runs as the service.
 * @param added ids of the voids and corrections
 * @returns the budget with its spend including them, and what they added, USD as exact text
 */
export function selectExceededBudget(
  client: ClientBase,
  workspaceId: string,
  added: string[],
): Promise<{ budget: BlockingBudgetRow; added_usd: string } | null> {
  return callFunction(client, "private.exceeded_budget", workspaceId, added);
}
