import { empty, type Sql, sql } from "@/lib/db/sql";

/** A condition that a column names one workspace; empty for all workspaces. */
export function ofWorkspace(column: Sql, workspaceId: string | null): Sql {
  return workspaceId === null ? empty : sql`and ${column} = ${workspaceId}`;
}

/**
 * Selects messages with wrong postings. An allocation has two that sum to zero, a yearly subscription twelve, a batch one for each number
 * up to its last part, a usage as many as its first posting says, other messages one. A charge is its original amount times the stored
 * rate. A posting of a year may be missing if the messages of its month were removed after it was recorded; each of the others is still a
 * twelfth.
 */
export const differingPostings = (workspaceId: string | null) => sql`
  select message.*, round(exact_amount_usd, 18) as actual_amount_usd, workspace.slug as workspace
  from (
    select workspace_id, id, type, stored_parts, stored_amount_usd, last_part, lines, shares, removed_parts,
      case when type = 'allocation' then 2 when type = 'batch' then last_part + 1
        when type = 'usage' then lines
        when is_yearly then 12 - removed_parts else 1 end as actual_parts,
      case when type = 'allocation' then 0 when removed_parts = 0 then coalesce(charge, stored_amount_usd)
        -- With 30 digits: a quotient of short numbers has fewer than a share.
        else (stored_parts - has_last_part) * round(round(charge, 30) / 12, 18)
          + has_last_part * (charge - 11 * round(round(charge, 30) / 12, 18))
      end as exact_amount_usd
    from (
      select workspace_id, id, type, count(*) as stored_parts, sum(amount_usd) as stored_amount_usd,
        bool_or(details ->> 'interval' = 'year') as is_yearly,
        max(original_amount) * coalesce(max((price ->> 'rate')::numeric), 1) as charge,
        max(part) as last_part, coalesce(max((details ->> 'lines')::int), 1) as lines, count(*) filter (where part = 11) as has_last_part,
        count(distinct amount_usd) filter (where part < 11) as shares,
        array_agg(part) filter (where type = 'subscription') as parts,
        min(details ->> 'starts_on') as starts_on, min(created_at) as created_at, min(environment) as environment
      from public.messages
      where (type <> 'usage' or part <> 0 or details ? 'lines') ${ofWorkspace(sql`workspace_id`, workspaceId)}
      group by workspace_id, id, type
    ) as stored
    cross join lateral (
      select count(distinct part) as removed_parts
      from generate_series(0, 11) as part
      join private.removed_messages as removed
        on removed.workspace_id = stored.workspace_id and removed.environment = stored.environment
        and removed.month = date_trunc('month', starts_on::date + part * interval '1 month')::date
      where is_yearly and part <> all (parts) and removed.removed_at > created_at
    ) as gone
  ) as message
  left join public.workspaces as workspace on workspace.id = message.workspace_id
  where stored_parts <> actual_parts or (last_part <> actual_parts - 1 and removed_parts = 0)
    -- A part of the remainder that is left of a division by twelve may be in a posting that is gone.
    or abs(stored_amount_usd - exact_amount_usd) > case when removed_parts > 0 then 12e-18 else 0.5e-18 end
    or (message.type = 'subscription' and shares > 1)
  order by workspace.slug, message.id`;

/**
 * Condition: the message of an idempotency key `i` may be missing, because the messages of its month were removed later. The key is kept,
 * so that a retry is still recognised.
 */
const wasRemoved = sql`
  exists (
    select from private.removed_messages as removed
    where removed.workspace_id = i.workspace_id and removed.environment = i.environment
      and removed.removed_at > i.created_at
      -- What was of a closed month is booked when it was recorded.
      and removed.month in (date_trunc('month', coalesce(
        (i.request #>> '{message,starts_on}')::date::timestamp,
        (i.request #>> '{message,occurred_at}')::timestamptz at time zone 'UTC',
        i.created_at at time zone 'UTC'
      ))::date, date_trunc('month', i.created_at at time zone 'UTC')::date)
  )`;

const isStray = sql`
  not exists (select from public.messages as m where m.workspace_id = i.workspace_id and m.id = i.message_id)
    and not ${wasRemoved}`;

/** Selects idempotency keys whose message does not exist and was not removed. */
export const strayAnswers = (workspaceId: string | null) => sql`
  select i.workspace_id, workspace.slug as workspace, i.key, i.message_id
  from private.idempotency as i
  left join public.workspaces as workspace on workspace.id = i.workspace_id
  where ${isStray} ${ofWorkspace(sql`i.workspace_id`, workspaceId)}
  order by workspace.slug, i.key`;

/** Deletes idempotency keys without a message, so that a retry is recorded. */
export const removeStrayAnswers = (workspaceId: string) => sql`
  delete from private.idempotency as i where i.workspace_id = ${workspaceId} and ${isStray}`;

/**
 * Selects voided messages whose postings do not sum to zero with those of their voids, posting by posting. A message and its void are
 * removed together with their month, unless the void is an adjustment of a closed month: then the message may have been removed already.
 */
export const differingVoids = (workspaceId: string | null) => sql`
  select pair.workspace_id, pair.id, pair.type, stored_amount_usd, stored_parts, actual_parts, 0 as actual_amount_usd,
    workspace.slug as workspace
  from (
    select workspace_id, coalesce(voids, id) as id, min(type) as type, sum(amount_usd) as stored_amount_usd,
      count(*) as stored_parts, 2 * count(distinct part) as actual_parts,
      min(adjusts) filter (where voids is not null) as adjusts, min(environment) as environment
    from public.messages
    where (voids is not null or voided_by is not null) ${ofWorkspace(sql`workspace_id`, workspaceId)}
    group by 1, 2, part
  ) as pair
  left join public.workspaces as workspace on workspace.id = pair.workspace_id
  where (stored_amount_usd <> 0 or stored_parts <> actual_parts) and not (
    stored_parts = 1 and adjusts is not null and exists (
      select from private.removed_messages as removed
      where removed.workspace_id = pair.workspace_id and removed.environment = pair.environment
        and removed.month = date_trunc('month', adjusts)::date
    )
  )
  order by workspace.slug, pair.id`;

/** Sets the amount of each posting of a void to the negated amount of the posting that it voids. */
export const repairVoids = (workspaceId: string) => sql`
  update public.messages as counter set amount_usd = -original.amount_usd
  from public.messages as original
  where counter.workspace_id = ${workspaceId} and counter.voids is not null
    and original.workspace_id = counter.workspace_id and original.id = counter.voids and original.part = counter.part
    and original.occurred_at in (counter.occurred_at, counter.adjusts) and counter.amount_usd <> -original.amount_usd`;

/** Selects messages whose first line does not have the sum of all lines. */
export const differingLines = (workspaceId: string | null) => sql`
  select entry.*, workspace.slug as workspace
  from (
    select workspace_id, id, type, min(lines_usd) filter (where part = 0) as stored_amount_usd, sum(amount_usd) as actual_amount_usd
    from public.messages
    where type in ('usage', 'batch') and (type = 'batch' or part > 0 or lines_usd is not null or details ? 'lines')
      ${ofWorkspace(sql`workspace_id`, workspaceId)}
    group by workspace_id, id, type
    having bool_or(part = 0) and (count(*) > 1 or count(lines_usd) > 0)
  ) as entry
  left join public.workspaces as workspace on workspace.id = entry.workspace_id
  where stored_amount_usd is distinct from actual_amount_usd
  order by workspace.slug, entry.id`;

/** Sets the sum of all lines on the first line of messages where it differs. */
export const repairLines = (workspaceId: string) => sql`
  select private.sum_lines(array_agg(workspace_id), array_agg(id)) from (${differingLines(workspaceId)}) as found`;

type MessageName = { workspaceId: string; id: string };

/** Selects and locks the postings of a message, to repair them. */
export const lockPostings = ({ workspaceId, id }: MessageName) => sql`
  select part, occurred_at, project_id, amount_usd, original_amount,
    price ->> 'rate' as rate, type, details,
    (select id from public.projects as source where source.workspace_id = m.workspace_id and source.slug = m.details ->> 'from_project')
      as source_project_id,
    array(
      select to_char(removed.month, 'YYYY-MM') from private.removed_messages as removed
      where removed.workspace_id = m.workspace_id and removed.environment = m.environment
        and removed.removed_at > m.created_at
    ) as removed_months
  from public.messages as m
  where workspace_id = ${workspaceId} and id = ${id}
  order by part
  for update of m`;

/** A missing posting. `amount`: USD as text. `occurredAt`: ISO 8601. */
export type NewPosting = { part: number; amount: string; occurredAt: string; projectId: string };

/** Changes the amount of a posting. */
export const changePosting = ({ workspaceId, id }: MessageName, part: number, amount: string) => sql`
  update public.messages set amount_usd = ${amount}
  where workspace_id = ${workspaceId} and id = ${id} and part = ${part}`;
/** Inserts a missing posting of a message, with the other columns of its first posting that exists. */
export const restorePosting = ({ workspaceId, id }: MessageName, posting: NewPosting) => sql`
  insert into public.messages (
    workspace_id, id, part, occurred_at, created_at, project_id, api_key_id, user_id, type, source, environment, provider,
    amount_usd, cost_status, price, currency, original_amount, label, category, notes, metadata, details, tags
  )
  select workspace_id, id, ${posting.part}, ${posting.occurredAt}, created_at, ${posting.projectId}, api_key_id, user_id, type, source, environment, provider,
    ${posting.amount}, cost_status, price, currency, original_amount, label, category, notes, metadata, details, tags
  from public.messages where workspace_id = ${workspaceId} and id = ${id}
  order by part limit 1`;
