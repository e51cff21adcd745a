import type { Pool } from "pg";
import { type Decimal, parseDecimal } from "@/lib/decimal";
import { priceUsage } from "@/lib/ledger/pricing/price-message";
import type { ServiceTier } from "@/lib/ledger/pricing/price-table";
import { computeRecommendations } from "@/lib/spend/recommendations/compute";
import { bulk, pages } from "./activity";
import { apiClient } from "./client";
import type { Team } from "./team";

/** Noon of the day that many days ago, UTC. */
export const noon = (daysAgo: number) =>
  `${new Date(Date.now() - daysAgo * 86_400_000).toISOString().slice(0, 10)}T12:00:00Z`;

/** Records messages of the project `checkout` with a key. @returns their ids */
export const recordAll = (baseUrl: string, secret: string, messages: object[]) =>
  bulk(
    apiClient(baseUrl, secret),
    messages.map((message) => ({ project: "checkout", source: "api", message })),
  );

/** Computes the recommendations of a workspace now. */
export async function computeNow(sql: Pool, workspaceId: string): Promise<void> {
  await sql.query(
    `insert into public.recommendation_runs (workspace_id) values ($1)
     on conflict (workspace_id) do update set next_at = now()`,
    [workspaceId],
  );
  await computeRecommendations();
}

/** A row of activity. */
export type ListedRow = { id: string; amount_usd: number; voids: string | null; environment: string };

/** The rows that a recommendation links to. */
export async function listRows(team: Team, query: string): Promise<ListedRow[]> {
  const read = async (page: string) =>
    (await team.users.viewer.get(`${team.path}/activity?${page}&limit=100`)).body;
  return (await pages(read, query)).flat() as ListedRow[];
}

/** A stored posting of usage. */
export type Posting = {
  id: string;
  provider: string;
  model: string;
  unit_type: string;
  quantity: string;
  amount_usd: string;
  occurred_at: Date;
  details: { cached_quantity?: string; request_input_tokens?: string; service_tier?: ServiceTier } | null;
};

/** The priced postings of messages. */
export async function selectPostings(
  sql: Pool,
  workspaceId: string,
  ids: readonly string[],
): Promise<Posting[]> {
  const { rows } = await sql.query<Posting>(
    `select id, provider, model, unit_type, quantity::text, amount_usd::text, occurred_at, details from public.messages
     where workspace_id = $1 and id = any ($2) and cost_status = 'priced'`,
    [workspaceId, ids],
  );
  return rows;
}

/** What a posting costs otherwise, by the function that prices what is recorded. Null without a price. */
export function priceAt(
  posting: Posting,
  other: { tier?: ServiceTier; model?: string; unit?: string; quantity?: number; cached?: number },
  at: Date,
): Decimal | null {
  const { cached_quantity, request_input_tokens: input, service_tier: tier } = posting.details ?? {};
  const cached = other.cached ?? cached_quantity;
  const priced = priceUsage({
    provider: posting.provider,
    model: other.model ?? posting.model,
    unitType: other.unit ?? posting.unit_type,
    quantity: parseDecimal(other.quantity ?? posting.quantity),
    cachedQuantity: cached === undefined ? undefined : parseDecimal(cached),
    inputQuantity: input === undefined ? undefined : parseDecimal(input),
    serviceTier: other.tier ?? tier,
    occurredAt: at,
  });
  return priced.costStatus === "priced" ? priced.amount : null;
}
