-- Remembers subscriptions that are to go on, in the transaction of their first charges: that of the message itself and
-- those of further periods that had begun by then. `booked_periods` counts them all.
create or replace function private.start_subscriptions(subscriptions jsonb)
returns void
language sql volatile security definer set search_path = '' set timezone = 'UTC'
as $$
  insert into public.recurring_subscriptions (
    workspace_id, id, project_id, api_key_id, source, environment, message, period, anchor_on, ends_on, booked_periods,
    next_on, created_at
  )
  select
    workspace_id, id, project_id, api_key_id, source, environment, message, period, anchor_on, ends_on, booked_periods,
    next_on, created_at
  from jsonb_to_recordset(subscriptions) as s (
    workspace_id uuid, id uuid, project_id uuid, api_key_id uuid, source text, environment text, message jsonb,
    period text, anchor_on date, ends_on date, booked_periods integer, next_on date, created_at timestamptz
  )
$$;

comment on column public.recurring_subscriptions.api_key_id is
  'The key that posted it. Periods that are booked later are the workspace''s own and carry no key.';
