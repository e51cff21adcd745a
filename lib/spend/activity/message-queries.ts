import type { ClientBase } from "pg";
import type { CostStatus } from "@/lib/contract/ledger/ingest-result";
import type { MessageSource, MessageType } from "@/lib/contract/ledger/message";
import {
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
import { callFunction, selectAll } from "@/lib/db/query";
import { sql } from "@/lib/db/sql";
import { isOwnRecord } from "@/lib/ledger/corrections/right";

/** The price or currency rate kept with an amount; `rate` is exact text. */
export type StoredOrigin = { rate: string; [detail: string]: unknown };

const postingRow = {
  id: uuid(),
  part: integer(),
  type: text<MessageType>(),
  label: nullable(text()),
  environment: text<"live" | "test">(),
  source: text<MessageSource>(),
  created_at: timestamp(),
  occurred_at: timestamp(),
  adjusts: nullable(timestamp()),
  amount_usd: numeric(),
  cost_status: text<CostStatus>(),
  key_id: nullable(uuid()),
  key_name: nullable(text()),
  user_id: nullable(uuid()),
  user_name: nullable(text()),
  project_slug: text(),
  project_name: text(),
  provider: nullable(text()),
  model: nullable(text()),
  feature: nullable(text()),
  end_user: nullable(text()),
  session: nullable(text()),
  tags: nullable(texts()),
  emitter: nullable(text()),
  list_price_usd: nullable(numeric()),
  given_cost_usd: nullable(numeric()),
  unit_type: nullable(text()),
  quantity: nullable(numeric()),
  price: nullable(json<StoredOrigin>()),
  currency: nullable(text()),
  original_amount: nullable(numeric()),
  batch_id: nullable(text()),
  category: nullable(text()),
  notes: nullable(text()),
  metadata: nullable(json<Record<string, unknown>>()),
  details: nullable(json<Record<string, unknown>>()),
  voids: nullable(uuid()),
  voided_by: nullable(uuid()),
  voided_at: nullable(timestamp()),
  void_reason: nullable(text()),
  correction_reason: nullable(text()),
  corrects: nullable(uuid()),
  corrected_by: nullable(uuid()),
  is_own: boolean(),
};

/** A posting of a message; decimals are exact text. */
export type StoredPosting = Row<typeof postingRow>;

/**
 * The postings of a message in order; none if the caller may not see it.
 * @param userId the user to compare the recorder with: by hand, from a file or through an assistant
 */
export function selectMessage(
  client: ClientBase,
  workspaceId: string,
  id: string,
  userId: string,
): Promise<StoredPosting[]> {
  return selectAll(
    client,
    postingRow,
    sql`select m.id, m.part, m.type, m.label, m.environment, m.source, m.created_at, m.occurred_at, m.adjusts,
       trim_scale(m.amount_usd) as amount_usd, m.cost_status, keys.id as key_id, keys.name as key_name,
       people.id as user_id, coalesce(people.display_name, people.email) as user_name,
       projects.slug as project_slug, projects.name as project_name, m.provider, m.model, m.feature, m.end_user, m.session, m.tags, m.emitter,
       trim_scale(m.list_price_usd) as list_price_usd, trim_scale(m.given_cost_usd) as given_cost_usd, m.unit_type,
       trim_scale(m.quantity) as quantity, m.price, m.currency, trim_scale(m.original_amount) as original_amount,
       m.batch_id, m.category, m.notes, m.metadata, m.details,
       m.voids, m.voided_by, voided.created_at as voided_at, voided.reason as void_reason, corrected.message_id as corrects, corrected.reason as correction_reason,
       voided.corrected_by, ${isOwnRecord(sql`keys`, userId)} as is_own
     from public.messages as m
     join public.projects on projects.workspace_id = m.workspace_id and projects.id = m.project_id
     left join public.api_keys as keys on keys.workspace_id = m.workspace_id and keys.id = m.api_key_id
     left join public.profiles as people
       on people.id = coalesce(m.user_id, case when keys.kind = 'member' then keys.created_by end)
     left join public.message_voids as voided on voided.workspace_id = m.workspace_id and voided.message_id = m.id
     left join public.message_voids as corrected
       on corrected.workspace_id = m.workspace_id and corrected.corrected_by = m.id
     where m.workspace_id = ${workspaceId} and m.id = ${id}
     order by m.part`,
  );
}

/** The idempotency key of a message. Users' roles cannot read it: runs as the service (`asServiceWithin`). */
export function selectIdempotencyKey(
  client: ClientBase,
  workspaceId: string,
  id: string,
): Promise<string | null> {
  return callFunction(client, "private.idempotency_key_of", workspaceId, id);
}

/** The budgets that count a message, and the alerts of them and of its key; instants are ISO 8601. */
export type StoredWatchers = {
  budgets: { id: string; name: string }[];
  alerts: { id: string; rule: string; subject: string; percent: string | null; fired_at: string }[];
};

/** Reads the budgets and alerts of a message. Users' roles cannot read them: runs as the service (`asServiceWithin`). */
export function selectWatchers(client: ClientBase, workspaceId: string, id: string): Promise<StoredWatchers> {
  return callFunction(client, "private.watched_by", workspaceId, id);
}
