import type { ClientBase } from "pg";
import type { MessageType } from "@/lib/contract/ledger/message";
import { boolean, integer, nullable, type Row, text, texts, uuid } from "@/lib/db/columns";
import { callFunction, execute, selectAll } from "@/lib/db/query";
import { sql } from "@/lib/db/sql";
import { isOwnRecord } from "./right";

const costRow = {
  id: uuid(),
  type: text<MessageType>(),
  postings: integer(),
  missing: integer(),
  is_void: boolean(),
  is_voided: boolean(),
  is_own: boolean(),
  has_amount: boolean(),
  project_ids: texts(),
  features: texts(),
  tags: nullable(texts()),
};

/**
 * A message of a bulk action. `missing`: how many of its postings were removed with their months. `has_amount`: whether every posting
 * has a cost. `features`: of its postings; an empty text stands for none.
 */
export type StoredBulkCost = Row<typeof costRow>;

/**
 * Loads what decides whether messages can be voided and corrected, and by whom.
 * @param userId sets `is_own` for messages that this user recorded by hand, from a file or with an assistant
 */
export function selectBulkCosts(
  client: ClientBase,
  workspaceId: string,
  ids: string[],
  userId: string,
): Promise<StoredBulkCost[]> {
  return selectAll(
    client,
    costRow,
    sql`select m.id, min(m.type) as type, count(*)::int as postings,
        case when bool_or(m.type = 'subscription' and m.details ->> 'interval' = 'year')
          then 12 - count(*) else 0 end::int as missing,
        bool_or(m.voids is not null) as is_void, bool_or(m.voided_by is not null) as is_voided,
        bool_or(${isOwnRecord(sql`k`, userId)}) as is_own,
        bool_and(m.cost_status not in ('unpriced', 'included')) as has_amount,
        array_agg(distinct m.project_id::text) as project_ids,
        array_agg(distinct coalesce(m.feature, '')) as features, min(m.tags) as tags
      from public.messages as m
      left join public.api_keys as k on k.workspace_id = m.workspace_id and k.id = m.api_key_id
      where m.workspace_id = ${workspaceId} and m.id = any (${ids}::uuid[])
      group by m.id`,
  );
}

/** Voids messages: a trigger of the table posts their voids. Violates `message_voids_pkey` if a message is voided already. */
export async function insertVoids(
  client: ClientBase,
  workspaceId: string,
  ids: string[],
  reason: string,
): Promise<void> {
  await execute(
    client,
    sql`insert into public.message_voids (workspace_id, message_id, reason)
      select ${workspaceId}::uuid, id, ${reason} from unnest(${ids}::uuid[]) as id order by id`,
  );
}

const addedRow = { id: uuid() };

/** The ids of an action's voids and of the messages that replaced the voided ones. */
export async function selectAdded(
  client: ClientBase,
  workspaceId: string,
  actionId: string,
): Promise<string[]> {
  const rows = await selectAll(
    client,
    addedRow,
    sql`select coalesce(added.id, v.void_id) as id
      from public.message_voids as v
      cross join lateral (values (v.void_id), (v.corrected_by)) as added (id)
      where v.workspace_id = ${workspaceId} and v.action_id = ${actionId} and added.id is not null`,
  );
  return rows.map(({ id }) => id);
}

/** What an action changes, as `private.record_bulk_action` takes it. `untagged`: names of tags to remove. */
export type StoredChange = {
  project_id?: string;
  feature?: string | null;
  tags: string[];
  untagged: string[];
  factor?: string;
};

/** Records an action whose messages the transaction has voided, and the messages that replace them. Runs as the service. */
export async function recordBulkAction(
  client: ClientBase,
  workspaceId: string,
  ids: string[],
  request: {
    id: string;
    kind: "void" | "correct";
    unchanged_count: number;
    idempotency_key: string | undefined;
    request_hash: string;
    change: StoredChange | null;
    audited: object;
  },
): Promise<void> {
  await callFunction(client, "private.record_bulk_action", workspaceId, ids, JSON.stringify(request));
}

/** An action as stored; amounts are exact text, instants ISO 8601. */
export type StoredBulkAction = {
  id: string;
  kind: "void" | "correct";
  message_count: number;
  unchanged_count: number;
  before_usd: string;
  after_usd: string;
  request_hash: string;
  created_at: string;
  undone_at: string | null;
};

/** Locks an idempotency key until the transaction ends, so that requests with the same key run one after the other. */
export async function lockIdempotencyKey(
  client: ClientBase,
  workspaceId: string,
  key: string,
): Promise<void> {
  await execute(
    client,
    sql`select pg_advisory_xact_lock(hashtextextended('outlay.bulk_action ' || ${workspaceId} || ' ' || ${key}, 0))`,
  );
}

/** An action by its id, or by its idempotency key. Runs as the service. */
export function selectBulkAction(
  client: ClientBase,
  workspaceId: string,
  by: { id: string } | { key: string },
): Promise<StoredBulkAction | null> {
  const [id, key] = "id" in by ? [by.id, null] : [null, by.key];
  return callFunction(client, "private.bulk_action_of", workspaceId, id, key);
}

type BeforeAndAfter = { before_usd: string; after_usd: string };

/** How added messages change sums, budgets and alerts; amounts are exact text. */
export type StoredEffects = {
  projects: {
    slug: string;
    name: string;
    environment: "live" | "test";
    days: ({ day: string } & BeforeAndAfter)[];
  }[];
  budgets: ({
    id: string;
    name: string;
    from: string;
    until: string | null;
    limit_usd: string;
  } & BeforeAndAfter)[];
  alerts: { budget: string; percent: string; threshold_usd: string }[];
};

/** The effects of messages that this transaction added. Runs as the service. @param added their ids */
export function selectEffects(
  client: ClientBase,
  workspaceId: string,
  added: string[],
): Promise<StoredEffects> {
  return callFunction(client, "private.effects_of_messages", workspaceId, added);
}

/**
 * Undoes an action, if the claims of the user allow it. Runs as the service.
 * @returns `unknown` if it is too late or the user may not; `changed` if one of its messages was changed since; `added`: ids of the
 *   messages that the undo recorded
 */
export function undoBulkAction(
  client: ClientBase,
  workspaceId: string,
  actionId: string,
): Promise<{ outcome: "restored" | "unknown" | "changed"; added: string[] }> {
  return callFunction(client, "private.undo_bulk_action", workspaceId, actionId);
}
