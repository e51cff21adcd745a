import type { ClientBase } from "pg";

/** A price as stored; the rate is exact text. */
export type PriceRow = {
  id: string;
  provider: string;
  model: string | null;
  unit_type: string;
  rate: string;
  starts_at: Date;
  created_at: Date;
};

/** A correction as stored; `to_at` is null where it has no end. */
export type RepricingRow = {
  id: string;
  provider: string;
  from_at: Date;
  to_at: Date | null;
  includes_priced: boolean;
  status: "pending" | "running" | "done";
  examined_count: string;
  changed_count: string;
  change_usd: string;
  created_at: Date;
  finished_at: Date | null;
};

const priceColumns = "id, provider, model, unit_type, trim_scale(rate) as rate, starts_at, created_at";
const repricingColumns = `id, provider, from_at, case when isfinite(to_at) then to_at end as to_at, includes_priced, status,
  examined_count, changed_count, trim_scale(change_usd) as change_usd, created_at, finished_at`;

export async function selectPrices(client: ClientBase, workspaceId: string): Promise<PriceRow[]> {
  const { rows } = await client.query<PriceRow>(
    `select ${priceColumns} from public.prices where workspace_id = $1
     order by lower(provider), lower(model) nulls first, unit_type, starts_at desc`,
    [workspaceId],
  );
  return rows;
}

export async function selectRepricings(
  client: ClientBase,
  workspaceId: string,
  atMost: number,
): Promise<RepricingRow[]> {
  const { rows } = await client.query<RepricingRow>(
    `select ${repricingColumns} from public.repricings where workspace_id = $1 order by created_at desc, id limit $2`,
    [workspaceId, atMost],
  );
  return rows;
}

/** Sets a price in the name of the transaction's user; one for the same thing from the same instant is replaced. */
export async function upsertPrice(
  client: ClientBase,
  price: {
    workspaceId: string;
    provider: string;
    model: string | null;
    unitType: string;
    rate: string;
    startsAt: string;
  },
): Promise<PriceRow> {
  const { rows } = await client.query<PriceRow>(
    `insert into public.prices as p (workspace_id, provider, model, unit_type, rate, starts_at)
     values ($1, $2, $3, $4, $5, $6)
     on conflict on constraint prices_key do update set rate = excluded.rate
     returning ${priceColumns}`,
    [price.workspaceId, price.provider, price.model, price.unitType, price.rate, price.startsAt],
  );
  const [row] = rows;
  if (!row) throw new Error("A price that was set was not returned.");
  return row;
}

/** Asks for a correction in the name of the transaction's user. */
export async function insertRepricing(
  client: ClientBase,
  repricing: {
    workspaceId: string;
    provider: string;
    from: string;
    to: string | null;
    includesPriced: boolean;
  },
): Promise<RepricingRow> {
  const { rows } = await client.query<RepricingRow>(
    `insert into public.repricings (workspace_id, provider, from_at, to_at, includes_priced)
     values ($1, $2, $3, coalesce($4::timestamptz, 'infinity'), $5)
     returning ${repricingColumns}`,
    [repricing.workspaceId, repricing.provider, repricing.from, repricing.to, repricing.includesPriced],
  );
  const [row] = rows;
  if (!row) throw new Error("A repricing that was asked for was not returned.");
  return row;
}

/** What has no price yet, the most frequent first, at most 200 kinds. */
export async function selectUnpriced(client: ClientBase, workspaceId: string) {
  const { rows } = await client.query<{
    provider: string;
    model: string | null;
    unit_type: string;
    line_count: string;
    quantity: string;
    first_occurred_at: Date;
    last_occurred_at: Date;
  }>(
    `select m.provider, coalesce(line.model, m.model) as model, coalesce(line.unit_type, m.unit_type) as unit_type,
       count(*) as line_count, trim_scale(sum(coalesce(line.quantity, m.quantity))) as quantity,
       min(m.occurred_at) as first_occurred_at, max(m.occurred_at) as last_occurred_at
     from public.messages as m
     left join lateral jsonb_to_recordset(m.items) as line (model text, unit_type text, quantity numeric, cost_status text) on true
     where m.workspace_id = $1 and m.cost_status = 'unpriced' and (m.items is null or line.cost_status = 'unpriced')
     group by 1, 2, 3
     order by line_count desc, 1, 2, 3
     limit 200`,
    [workspaceId],
  );
  return rows;
}
