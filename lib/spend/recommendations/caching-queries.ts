import type { ClientBase } from "pg";
import { bigint, neverNull, numeric, type Row, text } from "@/lib/db/columns";
import { selectAll } from "@/lib/db/query";
import { sql } from "@/lib/db/sql";
import { isOnDays, type ZonedDays } from "@/lib/ledger/days";
import type { ServiceTier } from "@/lib/ledger/pricing/price-table";
import { isStanding, providerKey, tierOf } from "@/lib/spend/activity/filters";
import { subjectRow, type UsageSubject } from "./usage-queries";

/** A subject with the fewest input tokens of a call that count. */
export type CacheableSubject = UsageSubject & { least_prompt: number };

const callsRow = {
  ...subjectRow,
  unit_type: neverNull(text()),
  tier: neverNull(text<ServiceTier>()),
  rate: neverNull(text()),
  least_input: neverNull(numeric()),
  most_input: neverNull(numeric()),
  calls: neverNull(bigint()),
  windows_5m: neverNull(bigint()),
  windows_1h: neverNull(bigint()),
};

/**
 * Calls whose whole input was recorded and not cached, at one rate.
 * - `rate`: of their input, USD for one token as exact text.
 * - `least_input`, `most_input`: of the input tokens of each.
 * - `windows_5m`, `windows_1h`: the spans of 5 minutes, and of an hour, in which there were calls.
 */
export type UncachedCalls = Row<typeof callsRow>;

/**
 * The calls of some subjects on days of which nothing was cached: one posting of input tokens that has all input tokens of its request,
 * at a catalogue's price. Not those of batches, whose requests are answered in any order and at any time.
 */
export function selectUncachedCalls(
  client: ClientBase,
  workspaceId: string,
  days: ZonedDays,
  subjects: readonly CacheableSubject[],
): Promise<UncachedCalls[]> {
  return selectAll(
    client,
    callsRow,
    sql`with wanted as (
        select distinct of.project_id, of.provider, of.model, of.feature, of.least_prompt
        from unnest(${subjects.map((each) => each.project_id)}::uuid[], ${subjects.map((each) => each.provider)}::text[],
          ${subjects.map((each) => each.model)}::text[], ${subjects.map((each) => each.feature)}::text[],
          ${subjects.map((each) => each.least_prompt)}::numeric[])
          as of (project_id, provider, model, feature, least_prompt)
      )
      select m.project_id, ${providerKey(sql`m.provider`)} as provider, m.model, m.feature, m.unit_type, ${tierOf(sql`m`)} as tier,
        m.price ->> 'rate' as rate, min(m.quantity) as least_input, max(m.quantity) as most_input, count(*) as calls,
        count(distinct date_bin('5 minutes', m.occurred_at, timestamptz '2000-01-01 00:00:00Z')) as windows_5m,
        count(distinct date_bin('1 hour', m.occurred_at, timestamptz '2000-01-01 00:00:00Z')) as windows_1h
      from public.messages as m
      join wanted as w on w.project_id = m.project_id and w.provider = ${providerKey(sql`m.provider`)} and w.model = m.model
        and w.feature is not distinct from m.feature
      where m.workspace_id = ${workspaceId} and m.environment = 'live' and m.type = 'usage' and m.cost_status = 'priced'
        and ${isStanding(sql`m`)} and ${isOnDays(sql`m.occurred_at`, days)}
        and m.price ->> 'source' = 'catalogue' and m.price ->> 'per' = '1' and m.price ->> 'unit' = 'input_tokens'
        and not m.price ? 'minimum' and not m.price ? 'cached'
        and m.quantity = (m.details ->> 'request_input_tokens')::numeric and m.quantity = trunc(m.quantity)
        and m.quantity >= w.least_prompt and ${tierOf(sql`m`)} <> 'batch'
      group by 1, 2, 3, 4, 5, 6, 7`,
  );
}
