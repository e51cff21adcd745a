/** Batches whose row is not the sum of its items, or says otherwise whether it is priced. $1: the workspace or null. */
export const differingBatches = `
  select m.workspace_id, workspace.slug as workspace, m.id, m.amount_usd as stored_amount_usd, items.amount_usd as actual_amount_usd,
    m.cost_status as stored_status, items.cost_status as actual_status
  from public.messages as m
  cross join lateral (
    select coalesce(sum(amount_usd), 0) as amount_usd,
      case when bool_or(cost_status = 'unpriced') then 'unpriced' when bool_or(cost_status = 'priced') then 'priced' else 'client' end as cost_status
    from jsonb_to_recordset(m.items) as item (amount_usd numeric, cost_status text)
  ) as items
  left join public.workspaces as workspace on workspace.id = m.workspace_id
  where m.items is not null and ($1::uuid is null or m.workspace_id = $1)
    and (m.amount_usd <> items.amount_usd or m.cost_status <> items.cost_status)
  order by workspace.slug, m.id`;

/** Written as one statement over the row itself: a correction of prices that is faster is seen, not undone. */
export const mendBatches = `
  update public.messages as m
  set amount_usd = (select coalesce(sum(amount_usd), 0) from jsonb_to_recordset(m.items) as item (amount_usd numeric)),
    cost_status = (
      select case when bool_or(cost_status = 'unpriced') then 'unpriced' when bool_or(cost_status = 'priced') then 'priced' else 'client' end
      from jsonb_to_recordset(m.items) as item (cost_status text)
    )
  where m.items is not null and m.workspace_id = $1 and m.id = any ($2)`;

/**
 * Messages whose postings are not what the message says: an allocation is two that sum to zero, a year of subscription
 * twelve, anything else one; what was charged in a currency is its amount at the rate kept with it. $1: the workspace or null.
 */
export const differingPostings = `
  select message.*, round(exact_amount_usd, 18) as actual_amount_usd, workspace.slug as workspace
  from (
    select workspace_id, id, type, count(*) as stored_parts, sum(amount_usd) as stored_amount_usd,
      case type when 'allocation' then 2 else case when bool_or(details ->> 'interval' = 'year') then 12 else 1 end end as actual_parts,
      case type when 'allocation' then 0 else
        coalesce(max(original_amount) * coalesce(max((price ->> 'rate')::numeric), 1), sum(amount_usd))
      end as exact_amount_usd,
      max(part) as last_part,
      count(distinct amount_usd) filter (where part < 11) as shares
    from public.messages
    where (type in ('allocation', 'expense', 'subscription') or part <> 0) and ($1::uuid is null or workspace_id = $1)
    group by workspace_id, id, type
  ) as message
  left join public.workspaces as workspace on workspace.id = message.workspace_id
  where stored_parts <> actual_parts or last_part <> actual_parts - 1
    or abs(stored_amount_usd - exact_amount_usd) > 0.5e-18
    or (message.type = 'subscription' and shares > 1)
  order by workspace.slug, message.id`;

/** Idempotency keys that answer with a message that is not there. $1: the workspace or null. */
export const strayAnswers = `
  select i.workspace_id, workspace.slug as workspace, i.key, i.message_id
  from private.idempotency as i
  left join public.workspaces as workspace on workspace.id = i.workspace_id
  where ($1::uuid is null or i.workspace_id = $1)
    and not exists (select from public.messages as m where m.workspace_id = i.workspace_id and m.id = i.message_id)
  order by workspace.slug, i.key`;

/** Without the stray answer a retry is recorded, and what it stands for is counted. */
export const removeStrayAnswers = `
  delete from private.idempotency as i
  where i.workspace_id = $1
    and not exists (select from public.messages as m where m.workspace_id = i.workspace_id and m.id = i.message_id)`;

/** The postings of a message, locked; for mending them. */
export const lockPostings = `
  select part, occurred_at, project_id, amount_usd::text as amount_usd, original_amount::text as original_amount,
    price ->> 'rate' as rate, type, details,
    (select id from public.projects as source where source.workspace_id = m.workspace_id and source.slug = m.details ->> 'from_project')
      as source_project_id
  from public.messages as m
  where workspace_id = $1 and id = $2
  order by part
  for update of m`;

/** Writes a posting of a message that has others: changes its amount, or makes it after the pattern of one that is there. */
export const changePosting =
  "update public.messages set amount_usd = $4 where workspace_id = $1 and id = $2 and part = $3";
export const restorePosting = `
  insert into public.messages (
    workspace_id, id, part, occurred_at, created_at, project_id, api_key_id, user_id, type, source, environment, provider,
    amount_usd, cost_status, price, currency, original_amount, label, category, notes, metadata, details
  )
  select workspace_id, id, $3, $5, created_at, $6, api_key_id, user_id, type, source, environment, provider,
    $4, cost_status, price, currency, original_amount, label, category, notes, metadata, details
  from public.messages where workspace_id = $1 and id = $2
  order by part limit 1`;

/** The spend of this month by everything a budget may be about, of the workspaces that have one. */
export const budgetSums = `
  with spend as materialized (
    select workspace_id, project_id::text as project, api_key_id::text as key, provider, feature, environment, sum(amount_usd) as amount_usd
    from (%entries%) as entries
    group by 1, 2, 3, 4, 5, 6
  )
  select b.id, coalesce(sum(s.amount_usd), 0)::text as amount_usd
  from public.budgets as b
  left join spend as s
    on s.workspace_id = b.workspace_id and s.environment = $4
    and case b.scope_type
      when 'global' then true
      when 'project' then s.project = b.scope_value
      when 'feature' then s.feature = b.scope_value
      when 'provider' then lower(s.provider) = lower(b.scope_value)
      when 'key' then s.key = b.scope_value
    end
  where b.workspace_id = $3
  group by b.id`;
