import type { ClientBase } from "pg";
import type { SourceOutcome } from "@/lib/contract/sources/sources";
import {
  bigint,
  integer,
  json,
  neverNull,
  nullable,
  numeric,
  type Row,
  text,
  texts,
  timestamp,
  uuid,
} from "@/lib/db/columns";
import { selectAll, selectOne } from "@/lib/db/query";
import { sql } from "@/lib/db/sql";

const totalsRow = {
  api_key_id: uuid(),
  emitters: neverNull(texts()),
  told: neverNull(bigint()),
  recorded: neverNull(bigint()),
  refused: neverNull(bigint()),
  last_received_at: nullable(timestamp()),
};

/** The total counts of a source's records. */
export type TotalsRow = Row<typeof totalsRow>;

/** The total counts of each key that is set up as a source or has sent records. @param id only this key, even if it is neither */
export function selectTotals(client: ClientBase, workspaceId: string, id?: string): Promise<TotalsRow[]> {
  return selectAll(
    client,
    totalsRow,
    sql`select k.id as api_key_id,
        coalesce(came.emitters, '{}') as emitters, coalesce(came.told, 0) as told,
        coalesce(came.recorded, 0) as recorded,
        coalesce(came.refused, 0) + coalesce(requests.refused, 0) as refused,
        greatest(came.last_at, requests.last_at) as last_received_at
      from public.api_keys as k
      left join (
        select api_key_id, array_agg(emitter order by last_at desc, emitter) as emitters, sum(told_count)::bigint as told,
          sum(recorded_count)::bigint as recorded, sum(refused_count)::bigint as refused, max(last_at) as last_at
        from public.source_arrivals where workspace_id = ${workspaceId} group by api_key_id
      ) as came on came.api_key_id = k.id
      left join (
        select api_key_id, sum(refused_count)::bigint as refused, max(last_at) as last_at
        from public.source_refusals where workspace_id = ${workspaceId} and not of_record group by api_key_id
      ) as requests on requests.api_key_id = k.id
      where k.workspace_id = ${workspaceId} and k.kind in ('key', 'environment')
        ${id === undefined ? sql`and (k.source_settings is not null or came.told is not null or requests.refused is not null)` : sql`and k.id = ${id}`}
      order by greatest(came.last_at, requests.last_at) desc nulls last, k.created_at desc, k.id`,
  );
}

const arrivalRow = {
  emitter: text(),
  told_count: bigint(),
  recorded_count: bigint(),
  repeated_count: bigint(),
  refused_count: bigint(),
  first_at: timestamp(),
  last_at: timestamp(),
  last_message_id: nullable(uuid()),
  last_provider: nullable(text()),
  last_model: nullable(text()),
  last_amount_usd: nullable(numeric()),
  last_cost_status: nullable(text()),
  last_recorded_at: nullable(timestamp()),
};

/** The counts of one emitter of a source. The amount of the last record is exact text. */
export type ArrivalRow = Row<typeof arrivalRow>;

/** The counts of a source by emitter, latest first. */
export function selectArrivals(client: ClientBase, workspaceId: string, id: string): Promise<ArrivalRow[]> {
  return selectAll(
    client,
    arrivalRow,
    sql`select emitter, told_count, recorded_count, repeated_count, refused_count, first_at, last_at, last_message_id,
        last_provider, last_model, trim_scale(last_amount_usd) as last_amount_usd, last_cost_status, last_recorded_at
      from public.source_arrivals where workspace_id = ${workspaceId} and api_key_id = ${id}
      order by last_at desc, emitter`,
  );
}

const accountRow = {
  hour: timestamp(),
  emitter: text(),
  outcome: text<SourceOutcome>(),
  by: text(),
  record_count: bigint(),
};

/** The outcomes of a source's records in the last 7 days, by hour, latest first. At most 2,000 rows. */
export function selectAccount(client: ClientBase, workspaceId: string, id: string) {
  return selectAll(
    client,
    accountRow,
    sql`select hour, emitter, outcome, by, record_count
      from public.source_hours
      where workspace_id = ${workspaceId} and api_key_id = ${id} and hour >= now() - interval '7 days'
      order by hour desc, record_count desc, emitter, outcome, by limit 2000`,
  );
}

const refusalRow = {
  code: text(),
  description: text(),
  refused_count: bigint(),
  first_at: timestamp(),
  last_at: timestamp(),
  example: nullable(json<Record<string, string>>()),
};

/** The reasons for which records of a source were refused, latest first. At most 50. */
export function selectRefusals(client: ClientBase, workspaceId: string, id: string) {
  return selectAll(
    client,
    refusalRow,
    sql`select code, description, refused_count, first_at, last_at, example
      from public.source_refusals where workspace_id = ${workspaceId} and api_key_id = ${id}
      order by last_at desc, reason limit 50`,
  );
}

const keptRow = { exports: integer(), records: integer(), last_at: nullable(timestamp()) };

/** The number of refused exports of a source that can be sent again, and of their records. */
export function selectKept(client: ClientBase, workspaceId: string, id: string) {
  return selectOne(
    client,
    keptRow,
    sql`select count(*)::integer as exports, coalesce(sum(record_count), 0)::integer as records, max(at) as last_at
      from public.refused_exports
      where workspace_id = ${workspaceId} and api_key_id = ${id} and at >= now() - interval '7 days'`,
  );
}

const unpricedRow = { provider: neverNull(text()), model: nullable(text()), line_count: neverNull(bigint()) };

/** The models without a price in a key's usage, most frequent first. At most 50. */
export function selectUnpricedModels(client: ClientBase, workspaceId: string, id: string) {
  return selectAll(
    client,
    unpricedRow,
    sql`select provider, model, sum(unpriced_count)::bigint as line_count
      from public.daily_spend
      where workspace_id = ${workspaceId} and api_key_id = ${id} and unpriced_count > 0 and provider is not null
      group by provider, model
      order by line_count desc, provider, model
      limit 50`,
  );
}
