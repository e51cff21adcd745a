import type { ClientBase } from "pg";
import {
  bigint,
  boolean,
  date,
  neverNull,
  nullable,
  numeric,
  type Row,
  text,
  timestamp,
  uuid,
} from "@/lib/db/columns";
import { execute, selectAll, selectOne } from "@/lib/db/query";
import { sql } from "@/lib/db/sql";
import { isOnDays, type ZonedDays } from "@/lib/ledger/days";

const priceRow = {
  id: uuid(),
  provider: text(),
  model: nullable(text()),
  unit_type: text(),
  rate: numeric(),
  starts_at: timestamp(),
  created_at: timestamp(),
};

/** A price as stored; the rate is exact text. */
export type PriceRow = Row<typeof priceRow>;

const repricingRow = {
  id: uuid(),
  provider: text(),
  from_at: timestamp(),
  to_at: nullable(timestamp()),
  includes_priced: boolean(),
  status: text<"pending" | "running" | "done">(),
  examined_count: bigint(),
  changed_count: bigint(),
  change_usd: numeric(),
  created_at: timestamp(),
  finished_at: nullable(timestamp()),
};

/** A correction of past prices as stored; `to_at` is null if it has no end. */
export type RepricingRow = Row<typeof repricingRow>;

const priceColumns = sql`id, provider, model, unit_type, trim_scale(rate) as rate, starts_at, created_at`;
const repricingColumns = sql`id, provider, from_at, case when isfinite(to_at) then to_at end as to_at, includes_priced,
  status, examined_count, changed_count, trim_scale(change_usd) as change_usd, created_at, finished_at`;

/** A workspace's own prices, by provider, model and unit, latest start first. */
export function selectPrices(client: ClientBase, workspaceId: string): Promise<PriceRow[]> {
  return selectAll(
    client,
    priceRow,
    sql`select ${priceColumns} from public.prices where workspace_id = ${workspaceId}
      order by lower(provider), lower(model) nulls first, unit_type, starts_at desc`,
  );
}

/** A workspace's latest corrections, newest first. */
export function selectRepricings(
  client: ClientBase,
  workspaceId: string,
  atMost: number,
): Promise<RepricingRow[]> {
  return selectAll(
    client,
    repricingRow,
    sql`select ${repricingColumns} from public.repricings where workspace_id = ${workspaceId}
      order by created_at desc, id limit ${atMost}`,
  );
}

/** Has other transactions that set prices of a workspace wait until this one ends, as the trigger of each price does. */
export function lockPrices(client: ClientBase, workspaceId: string): Promise<number> {
  return execute(
    client,
    sql`select pg_advisory_xact_lock(hashtextextended('outlay.prices.' || ${workspaceId}, 0))`,
  );
}

/** Stores a price. It replaces a price for the same provider, model and unit with the same start. */
export function upsertPrice(
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
  const { workspaceId, provider, model, unitType, rate, startsAt } = price;
  return selectOne(
    client,
    priceRow,
    sql`insert into public.prices as p (workspace_id, provider, model, unit_type, rate, starts_at)
      values (${workspaceId}, ${provider}, ${model}, ${unitType}, ${rate}, ${startsAt})
      on conflict on constraint prices_key do update set rate = excluded.rate
      returning ${priceColumns}`,
  );
}

const usedModelRow = { provider: neverNull(text()), model: neverNull(text()), last_day: date() };

/** A model in use, with the UTC day of its last usage. */
export type UsedModelRow = Row<typeof usedModelRow>;

/** The 500 models with the highest cost of the last 31 days. @param today the current UTC day, `YYYY-MM-DD` */
export function selectUsedModels(
  client: ClientBase,
  workspaceId: string,
  today: string,
): Promise<UsedModelRow[]> {
  return selectAll(
    client,
    usedModelRow,
    sql`select provider, model, max(day) as last_day
      from public.daily_spend
      where workspace_id = ${workspaceId} and day > ${today}::date - 31 and type in ('usage', 'batch')
        and provider is not null and model is not null
      group by provider, model
      order by sum(amount_usd) desc, provider, model
      limit 500`,
  );
}

/** Requests a correction of past prices in open months, which a job carries out. */
export function insertRepricing(
  client: ClientBase,
  repricing: {
    workspaceId: string;
    provider: string;
    from: string;
    to: string | null;
    includesPriced: boolean;
  },
): Promise<RepricingRow> {
  const { workspaceId, provider, from, to, includesPriced } = repricing;
  return selectOne(
    client,
    repricingRow,
    sql`insert into public.repricings (workspace_id, provider, from_at, to_at, includes_priced)
      values (${workspaceId}, ${provider},
        ${from}, coalesce(${to}::timestamptz, 'infinity'), ${includesPriced})
      returning ${repricingColumns}`,
  );
}

const unpricedRow = {
  provider: neverNull(text()),
  model: nullable(text()),
  unit_type: neverNull(text()),
  line_count: bigint(),
  quantity: numeric(),
  first_occurred_at: timestamp(),
  last_occurred_at: timestamp(),
};

/**
 * The usage without a price on a range of days, by provider, model and unit, most frequent first, at most 200 rows. Names that differ
 * in letter case are one; the first spelling by its bytes is returned.
 */
export function selectUnpriced(client: ClientBase, workspaceId: string, openDays: ZonedDays) {
  return selectAll(
    client,
    unpricedRow,
    sql`select min(provider collate "C") as provider, min(model collate "C") as model, unit_type, count(*) as line_count,
       trim_scale(sum(quantity)) as quantity, min(occurred_at) as first_occurred_at, max(occurred_at) as last_occurred_at
     from public.messages
     where workspace_id = ${workspaceId} and cost_status = 'unpriced' and voids is null and voided_by is null
       and ${isOnDays(sql`occurred_at`, openDays)}
     group by lower(provider), lower(model), unit_type
     order by line_count desc, 1, 2, 3
     limit 200`,
  );
}
