import type { ClientBase } from "pg";
import {
  bigint,
  boolean,
  integer,
  neverNull,
  nullable,
  numeric,
  type Row,
  text,
  uuid,
} from "@/lib/db/columns";
import { selectAll, selectOne } from "@/lib/db/query";
import { sql } from "@/lib/db/sql";
import { isOnDays, type ZonedDays } from "@/lib/ledger/days";
import type { ServiceTier } from "@/lib/ledger/pricing/price-table";
import { isStanding, providerKey, shownProvider, tierOf } from "@/lib/spend/activity/filters";

/** Usage of a project with one model for one feature. `provider`: in lower case, as providers are compared. */
export type UsageSubject = {
  project_id: string;
  provider: string;
  model: string;
  feature: string | null;
};

export const subjectRow = {
  project_id: uuid(),
  provider: neverNull(text()),
  model: neverNull(text()),
  feature: nullable(text()),
};

/** What a workspace spent live on days, USD as exact text. */
export async function selectSpend(
  client: ClientBase,
  workspaceId: string,
  { from, until }: ZonedDays,
): Promise<string> {
  const { amount_usd } = await selectOne(
    client,
    { amount_usd: neverNull(numeric()) },
    sql`select coalesce(sum(amount_usd), 0) as amount_usd from public.daily_totals
      where workspace_id = ${workspaceId} and environment = 'live' and dimension = 'provider' and day >= ${from} and day < ${until}`,
  );
  return amount_usd;
}

/** The subjects whose live usage cost at least an amount on days, from the daily sums. @param least USD as exact text, above 0 */
export function selectSubjects(
  client: ClientBase,
  workspaceId: string,
  { from, until }: ZonedDays,
  least: string,
): Promise<UsageSubject[]> {
  return selectAll(
    client,
    subjectRow,
    sql`select project_id, ${providerKey(sql`provider`)} as provider, model, feature
      from public.daily_spend
      where workspace_id = ${workspaceId} and environment = 'live' and type = 'usage' and provider is not null
        and model is not null and day >= ${from} and day < ${until}
      group by 1, 2, 3, 4
      having sum(amount_usd) >= ${least}
      order by sum(amount_usd) desc, 1, 2, 3, 4
      limit 200`,
  );
}

/** The subjects of some models with live usage on days, from the daily sums. @param models their `provider` in lower case */
export function selectSubjectsOf(
  client: ClientBase,
  workspaceId: string,
  { from, until }: ZonedDays,
  models: readonly Pick<UsageSubject, "provider" | "model">[],
): Promise<UsageSubject[]> {
  return selectAll(
    client,
    subjectRow,
    sql`select distinct s.project_id, of.provider, of.model, s.feature
      from public.daily_spend as s
      join unnest(${models.map((each) => each.provider)}::text[], ${models.map((each) => each.model)}::text[])
        as of (provider, model) on of.provider = ${providerKey(sql`s.provider`)} and of.model = s.model
      where s.workspace_id = ${workspaceId} and s.environment = 'live' and s.type = 'usage' and s.day >= ${from} and s.day < ${until}`,
  );
}

const groupRow = {
  ...subjectRow,
  shown_provider: neverNull(text()),
  unit_type: neverNull(text()),
  tier: neverNull(text<ServiceTier>()),
  is_unattended: neverNull(boolean()),
  rate: nullable(text()),
  cached_rate: nullable(text()),
  is_linear: neverNull(boolean()),
  is_listed: neverNull(boolean()),
  band: nullable(integer()),
  least_input: nullable(numeric()),
  most_input: nullable(numeric()),
  quantity: neverNull(numeric()),
  cached: neverNull(numeric()),
  amount_usd: neverNull(numeric()),
  records: neverNull(bigint()),
};

/**
 * Priced postings of usage that differ only in quantities. Quantities and amounts are their sums, exact text.
 * - `is_unattended`: they name neither a session nor a person.
 * - `rate`, `cached_rate`: the stored rates, USD for one unit as exact text.
 * - `is_linear`: at a rate for one unit, without a minimum, of whole quantities, so that sums can be priced like rows.
 * - `is_listed`: at a catalogue's rate, not at a price of the workspace's own.
 * - `least_input`, `most_input`: of the input tokens of their requests; null where they were not recorded.
 * - `records`: messages; the further lines of a message are not counted.
 */
export type UsageGroup = Row<typeof groupRow>;

/**
 * The request sizes above which a catalogue has other prices, in input tokens. Requests of one band are grouped; a test compares the
 * sizes with the catalogues.
 */
export const priceBands = [100_000, 128_000, 199_999, 200_000, 271_999, 272_000, 512_000];

/** Half a token more, because `width_bucket` counts an equal size as above, and prices do not. */
const bandEnds = priceBands.map((size) => size + 0.5);

/** The live, priced, standing usage of some subjects on days, in groups. */
export function selectUsageGroups(
  client: ClientBase,
  workspaceId: string,
  days: ZonedDays,
  subjects: readonly UsageSubject[],
): Promise<UsageGroup[]> {
  return selectAll(
    client,
    groupRow,
    sql`with wanted as (
        select distinct of.project_id, of.provider, of.model, of.feature
        from unnest(${subjects.map((each) => each.project_id)}::uuid[], ${subjects.map((each) => each.provider)}::text[],
          ${subjects.map((each) => each.model)}::text[], ${subjects.map((each) => each.feature)}::text[])
          as of (project_id, provider, model, feature)
      )
      select m.project_id, ${providerKey(sql`m.provider`)} as provider, m.model, m.feature, ${shownProvider(sql`m.provider`)} as shown_provider,
        m.unit_type, ${tierOf(sql`m`)} as tier, m.session is null and m.end_user is null as is_unattended,
        m.price ->> 'rate' as rate, m.price -> 'cached' ->> 'rate' as cached_rate,
        coalesce(m.price ->> 'per' = '1' and not m.price ? 'minimum', false)
          and m.quantity = trunc(m.quantity) and size.cached = trunc(size.cached) as is_linear,
        coalesce(m.price ->> 'source' = 'catalogue', false) as is_listed,
        width_bucket(size.input, ${bandEnds}::numeric[]) as band,
        min(size.input) as least_input, max(size.input) as most_input,
        sum(m.quantity) as quantity, sum(size.cached) as cached, sum(m.amount_usd) as amount_usd,
        count(*) filter (where m.part = 0) as records
      from public.messages as m
      cross join lateral (select coalesce((m.details ->> 'cached_quantity')::numeric, 0) as cached,
        (m.details ->> 'request_input_tokens')::numeric as input) as size
      join wanted as w on w.project_id = m.project_id and w.provider = ${providerKey(sql`m.provider`)} and w.model = m.model
        and w.feature is not distinct from m.feature
      where m.workspace_id = ${workspaceId} and m.environment = 'live' and m.type = 'usage' and m.cost_status = 'priced'
        and ${isStanding(sql`m`)} and ${isOnDays(sql`m.occurred_at`, days)}
      group by 1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13`,
  );
}
