-- What projects have spent in ranges of days, as allocations need it: no allocation moves more than its source has spent
-- in that month. So whoever asks holds the source, the environment and the month until their transaction ends; the next
-- one is answered with what this one moved. Held in one order, after the keys' locks and before any row is written.
--
-- In plpgsql and volatile: each statement has a snapshot of its own, and the second one's is taken under the locks.
--
-- wanted: [{ workspace_id, project_id, environment, from, until }] → [{ …, amount_usd }]
create or replace function private.load_project_spend(wanted jsonb)
returns jsonb
language plpgsql volatile security definer set search_path = '' set timezone = 'UTC'
as $$
declare
  spend jsonb;
begin
  perform pg_advisory_xact_lock(hashtextextended('outlay.allocations.' || source, 0))
  from (
    select distinct concat_ws(' ', workspace_id, project_id, environment, date_trunc('month', "from")::date) as source
    from jsonb_to_recordset(wanted) as w (workspace_id uuid, project_id uuid, environment text, "from" date)
    order by 1
  ) as sources;

  select coalesce(jsonb_agg(jsonb_build_object(
    'project_id', w.project_id, 'environment', w.environment, 'from', w.from, 'until', w.until,
    'amount_usd', coalesce((
      select sum(d.amount_usd) from public.daily_spend as d
      where d.workspace_id = w.workspace_id and d.project_id = w.project_id and d.environment = w.environment
        and d.day >= w.from and d.day < w.until
    ), 0)::text
  )), '[]') into spend
  from (
    select distinct * from jsonb_to_recordset(wanted)
      as w (workspace_id uuid, project_id uuid, environment text, "from" date, until date)
  ) as w;
  return spend;
end
$$;
