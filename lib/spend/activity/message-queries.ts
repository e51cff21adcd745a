import type { ClientBase } from "pg";
import type { CostStatus, MessageType, Source } from "@/lib/contract/message";

/** The price or currency rate kept with an amount; `rate` is exact text. */
export type StoredOrigin = { rate: string; [detail: string]: unknown };

/** A line of a stored batch; decimals are exact text. */
export type StoredLine = {
  model?: string;
  feature?: string;
  unit_type: string;
  quantity: string;
  amount_usd: string;
  cost_status: CostStatus;
  price?: StoredOrigin;
};

/** One entry of a message with the whole message beside it; decimals are exact text. */
export type StoredEntry = {
  id: string;
  part: number;
  type: MessageType;
  label: string | null;
  environment: "live" | "test";
  source: Source;
  created_at: Date;
  occurred_at: Date;
  amount_usd: string;
  cost_status: CostStatus;
  key_id: string | null;
  key_name: string | null;
  user_id: string | null;
  user_name: string | null;
  project_slug: string;
  project_name: string;
  provider: string | null;
  model: string | null;
  feature: string | null;
  unit_type: string | null;
  quantity: string | null;
  price: StoredOrigin | null;
  currency: string | null;
  original_amount: string | null;
  batch_id: string | null;
  category: string | null;
  notes: string | null;
  metadata: Record<string, unknown> | null;
  details: Record<string, unknown> | null;
  items: StoredLine[] | null;
};

/** The entries of a message in order; none where the caller may not see it. */
export async function selectMessage(
  client: ClientBase,
  workspaceId: string,
  id: string,
): Promise<StoredEntry[]> {
  const { rows } = await client.query<StoredEntry>(
    `select m.id, m.part, m.type, m.label, m.environment, m.source, m.created_at, m.occurred_at,
       trim_scale(m.amount_usd) as amount_usd, m.cost_status, keys.id as key_id, keys.name as key_name,
       people.id as user_id, coalesce(people.display_name, people.email) as user_name,
       projects.slug as project_slug, projects.name as project_name, m.provider, m.model, m.feature, m.unit_type,
       trim_scale(m.quantity) as quantity, m.price, m.currency, trim_scale(m.original_amount) as original_amount,
       m.batch_id, m.category, m.notes, m.metadata, m.details, m.items
     from public.messages as m
     join public.projects on projects.workspace_id = m.workspace_id and projects.id = m.project_id
     left join public.api_keys as keys on keys.workspace_id = m.workspace_id and keys.id = m.api_key_id
     left join public.profiles as people
       on people.id = coalesce(m.user_id, case when keys.kind = 'member' then keys.created_by end)
     where m.workspace_id = $1 and m.id = $2
     order by m.part`,
    [workspaceId, id],
  );
  return rows;
}

/** The idempotency key a message was recorded with. No user's role may ask: the caller has stepped back to the service. */
export async function selectIdempotencyKey(
  client: ClientBase,
  workspaceId: string,
  id: string,
): Promise<string | null> {
  const { rows } = await client.query("select private.idempotency_key_of($1, $2) as key", [workspaceId, id]);
  return rows[0].key;
}
