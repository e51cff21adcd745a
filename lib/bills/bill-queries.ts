import type { ClientBase } from "pg";
import {
  bigint,
  boolean,
  date,
  integer,
  neverNull,
  nullable,
  numeric,
  type Row,
  text,
  timestamp,
  uuid,
} from "@/lib/db/columns";
import { callFunction, selectAll } from "@/lib/db/query";
import { type Sql, sql } from "@/lib/db/sql";

const billRow = {
  id: uuid(),
  name: text(),
  format: text<"csv" | "focus" | "cur" | "pull">(),
  row_count: integer(),
  left_out_count: integer(),
  left_out_usd: numeric(),
  created_by_email: nullable(text()),
  created_at: timestamp(),
  provider_account_id: nullable(uuid()),
};

/** A bill as stored. */
export type BillRow = Row<typeof billRow>;

/** The bills of a workspace, the latest first. */
export function selectBills(client: ClientBase, workspaceId: string): Promise<BillRow[]> {
  return selectAll(
    client,
    billRow,
    sql`select id, name, format, row_count, left_out_count, left_out_usd, created_by_email, created_at, provider_account_id
      from public.bills where workspace_id = ${workspaceId}
      order by created_at desc, id`,
  );
}

const billedWorkspace = { id: uuid(), slug: text(), time_zone: text() };

/** The workspaces that have bills, or one of them. For commands of the operator. @param slug null for all */
export function selectBilledWorkspaces(client: ClientBase, slug: string | null) {
  return selectAll(
    client,
    billedWorkspace,
    sql`select w.id, w.slug, w.time_zone from public.workspaces as w
      where (${slug}::text is null or w.slug = ${slug}) and w.deleted_at is null
        and exists (select from public.bills as b where b.workspace_id = w.id)
      order by w.slug`,
  );
}

const statementRow = {
  id: uuid(),
  bill_id: uuid(),
  provider: text(),
  account: text(),
  from: date(),
  until: date(),
  amount_usd: numeric(),
};

/** A statement as stored, without its facts: from its first day to before `until`. */
export type StatementRow = Row<typeof statementRow>;

/** The statements of a workspace, in the order in which they were made. @param since the first day of a month; all without it */
export function selectStatements(
  client: ClientBase,
  workspaceId: string,
  since = "0001-01-01",
): Promise<StatementRow[]> {
  return selectAll(
    client,
    statementRow,
    sql`select id, bill_id, provider, account, starts_on as "from", ends_on as until, trim_scale(amount_usd) as amount_usd
      from public.bill_statements where workspace_id = ${workspaceId} and starts_on >= ${since}
      order by number`,
  );
}

const factRow = {
  statement_id: uuid(),
  line: nullable(text()),
  model: nullable(text()),
  unit: nullable(text()),
  tier: nullable(text()),
  key_name: nullable(text()),
  amount_usd: neverNull(numeric()),
  list_usd: nullable(numeric()),
  quantity: nullable(numeric()),
};

/** A billed fact as stored. */
export type FactRow = Row<typeof factRow>;

/** What some statements bill, of all people together. */
export function selectFacts(
  client: ClientBase,
  workspaceId: string,
  statements: string[],
): Promise<FactRow[]> {
  return selectAll(
    client,
    factRow,
    // A list price and a quantity are known where those of every person are.
    sql`select statement_id, line, model, unit, tier, key_name, trim_scale(sum(amount_usd)) as amount_usd,
        case when count(list_usd) = count(*) then trim_scale(sum(list_usd)) end as list_usd,
        case when count(quantity) = count(*) then trim_scale(sum(quantity)) end as quantity
      from public.billed_facts
      where workspace_id = ${workspaceId} and statement_id = any(${statements}::uuid[])
      group by statement_id, line, model, unit, tier, key_name
      order by statement_id, line, model, unit, tier, key_name`,
  );
}

const billedUserRow = { provider: text(), end_user: nullable(text()), amount_usd: neverNull(numeric()) };

/** What some statements bill by provider and person, of the providers that name any. */
export function selectBilledByUser(client: ClientBase, workspaceId: string, statements: string[]) {
  return selectAll(
    client,
    billedUserRow,
    sql`with billed as (
        select s.provider, f.end_user, f.amount_usd
        from public.bill_statements as s
        join public.billed_facts as f on f.workspace_id = s.workspace_id and f.statement_id = s.id
        where s.workspace_id = ${workspaceId} and s.id = any(${statements}::uuid[])
      )
      select provider, end_user, trim_scale(sum(amount_usd)) as amount_usd
      from billed
      where provider in (select named.provider from billed as named where named.end_user is not null)
      group by provider, end_user
      order by provider, end_user`,
  );
}

/** Adds a bill. Runs as the service, with the claims of an admin. @returns its id; null where its content is there already */
export function addBill(client: ClientBase, workspaceId: string, bill: object): Promise<string | null> {
  return callFunction(client, "private.add_bill", workspaceId, JSON.stringify(bill));
}

/** Deletes a bill. Runs as the service, with the claims of an admin. @returns whether there was one */
export function deleteBill(client: ClientBase, workspaceId: string, id: string): Promise<boolean> {
  return callFunction(client, "private.delete_bill", workspaceId, id);
}

const startOf = (day: string): Sql => sql`(${day}::timestamp at time zone 'UTC')`;

const recordedRow = {
  day: neverNull(date()),
  provider: neverNull(text()),
  model: nullable(text()),
  end_user: nullable(text()),
  amount_usd: neverNull(numeric()),
  is_usage: neverNull(boolean()),
  is_unpriced: neverNull(boolean()),
  line_count: neverNull(bigint()),
};

/** A workspace, and the zone whose days its sums are of. */
export type Books = { id: string; timeZone: string };

/** What recorded costs are divided by, besides days. */
type RecordedBy = "provider" | "model" | "user";

/**
 * What was recorded live by UTC day and provider, and by model or person, too, USD, without adjustments to bills, of the days from one to before another. An adjustment of a
 * closed month is of the day when the cost occurred, not of the day when it was booked: bills have it there. In a workspace of
 * another time zone, it is read from the messages, because the sums are not of the days that providers bill.
 */
export function selectRecorded(
  client: ClientBase,
  { id, timeZone }: Books,
  from: string,
  until: string,
  by: RecordedBy,
) {
  const recorded = timeZone === "UTC" ? recordedInSums : recordedInMessages;
  return selectAll(
    client,
    recordedRow,
    sql`select day, provider, model, end_user, trim_scale(sum(amount_usd)) as amount_usd, type in ('usage', 'batch') as is_usage,
        sum(unpriced_count) > 0 and sum(amount_usd) = 0 as is_unpriced, sum(lines)::bigint as line_count
      from (${recorded(id, from, until, by)}) as rows
      where provider is not null and type <> 'bill_adjustment'
      group by 1, 2, 3, 4, 6
      order by 1, 2, 3, 4, 6`,
  );
}

/** The model and the person of a row, as far as they are asked for. */
const dividedBy: Record<RecordedBy, Sql> = {
  provider: sql`null::text as model, null::text as end_user`,
  model: sql`model, null::text as end_user`,
  user: sql`null::text as model, end_user`,
};

/** The sums by day and provider, which have few rows; or those that have models and people. */
const sumsOf = (by: RecordedBy): Sql =>
  by === "provider"
    ? sql`select day, value as provider, ${dividedBy[by]}, type, amount_usd, unpriced_count, message_count as lines
        from public.daily_totals where dimension = 'provider' and`
    : sql`select day, provider, ${dividedBy[by]}, type, amount_usd, unpriced_count, item_count as lines
        from public.daily_spend where`;

function recordedInSums(workspaceId: string, from: string, until: string, by: RecordedBy): Sql {
  const [start, end] = [startOf(from), startOf(until)];
  return sql`${sumsOf(by)} workspace_id = ${workspaceId} and environment = 'live' and day >= ${from} and day < ${until}
    union all
    select (occurred_at at time zone 'UTC')::date, provider, ${dividedBy[by]}, type, -amount_usd, 0, 0
    from public.messages
    where workspace_id = ${workspaceId} and environment = 'live' and adjusts is not null
      and occurred_at >= ${start} and occurred_at < ${end}
    union all
    select (adjusts at time zone 'UTC')::date, provider, ${dividedBy[by]}, type, amount_usd, 0, 1
    from public.messages
    where workspace_id = ${workspaceId} and environment = 'live' and adjusts >= ${start} and adjusts < ${end}`;
}

function recordedInMessages(workspaceId: string, from: string, until: string, by: RecordedBy): Sql {
  const [start, end] = [startOf(from), startOf(until)];
  const columns = sql`provider, ${dividedBy[by]}, type, amount_usd, (cost_status = 'unpriced')::integer as unpriced_count, 1 as lines`;
  return sql`select (occurred_at at time zone 'UTC')::date as day, ${columns}
    from public.messages
    where workspace_id = ${workspaceId} and environment = 'live' and adjusts is null
      and occurred_at >= ${start} and occurred_at < ${end}
    union all
    select (adjusts at time zone 'UTC')::date, ${columns}
    from public.messages
    where workspace_id = ${workspaceId} and environment = 'live' and adjusts >= ${start} and adjusts < ${end}`;
}

const refusedRow = {
  day: date(),
  provider: neverNull(text()),
  model: nullable(text()),
  amount_usd: neverNull(numeric()),
};

/** What limits refused to record of live costs, by day of the workspace, provider and model. */
export function selectRefusedByModel(client: ClientBase, workspaceId: string, from: string, until: string) {
  return selectAll(
    client,
    refusedRow,
    sql`select day, provider, model, trim_scale(sum(amount_usd)) as amount_usd
      from public.refused_spend
      where workspace_id = ${workspaceId} and environment = 'live' and day >= ${from} and day < ${until} and provider is not null
      group by day, provider, model
      order by day, provider, model`,
  );
}

const usedRow = {
  day: neverNull(date()),
  provider: neverNull(text()),
  model: nullable(text()),
  unit: nullable(text()),
  tier: nullable(text()),
  is_unpriced: neverNull(boolean()),
  is_given: neverNull(boolean()),
  amount_usd: neverNull(numeric()),
  quantity: nullable(numeric()),
};

/**
 * The same by unit and service tier, of some providers. What a subscription includes is no part of a bill. The cached part of an input is
 * a unit of its own, with what it cost.
 */
export function selectUsed(
  client: ClientBase,
  workspaceId: string,
  from: string,
  until: string,
  providers: string[],
) {
  const [start, end] = [startOf(from), startOf(until)];
  return selectAll(
    client,
    usedRow,
    sql`select day, provider, model, unit, tier, is_unpriced, is_given, trim_scale(sum(amount_usd)) as amount_usd,
        trim_scale(sum(quantity)) as quantity
      from (
        select (coalesce(m.adjusts, m.occurred_at) at time zone 'UTC')::date as day, m.provider, m.model, line.unit,
          m.details ->> 'service_tier' as tier, m.cost_status = 'unpriced' as is_unpriced, m.cost_status = 'client' as is_given, line.amount_usd, line.quantity
        from (
          select * from public.messages
          where workspace_id = ${workspaceId} and occurred_at >= ${start} and occurred_at < ${end} and adjusts is null
          union all
          select * from public.messages
          where workspace_id = ${workspaceId} and adjusts >= ${start} and adjusts < ${end}
        ) as m
        cross join lateral (
          select coalesce((m.details ->> 'cached_quantity')::numeric, 0) * sign(m.quantity) as quantity,
            coalesce((m.price -> 'cached' ->> 'rate')::numeric * (m.price -> 'cached' ->> 'quantity')::numeric
              / (m.price -> 'cached' ->> 'per')::numeric, 0) * sign(m.quantity) as amount_usd
        ) as cached
        cross join lateral (
          select m.unit_type as unit, m.amount_usd - coalesce(cached.amount_usd, 0) as amount_usd,
            m.quantity - coalesce(cached.quantity, 0) as quantity
          union all
          select 'cache_read_tokens', cached.amount_usd, cached.quantity where cached.quantity <> 0
        ) as line
        where m.environment = 'live' and m.cost_status <> 'included' and m.type not in ('allocation', 'bill_adjustment')
          and m.provider = any(${providers}::text[])
      ) as lines
      group by 1, 2, 3, 4, 5, 6, 7
      order by 1, 2, 3, 4, 5, 6, 7`,
  );
}
