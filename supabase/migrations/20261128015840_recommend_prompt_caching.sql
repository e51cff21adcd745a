alter table public.recommendations add column counts jsonb;
alter table public.recommendations drop constraint recommendations_kind_check;
alter table public.recommendations add constraint recommendations_kind_check check (
  kind in ('batch_tier', 'smaller_model', 'standard_tier', 'prompt_caching', 'unused_seats')
);
alter table public.recommendations add constraint recommendations_caching_has_counts check ((kind = 'prompt_caching') = (counts is not null));

-- Stores what a computation found, and when the next one is.
-- run: { workspace_id, computed_at, first_day, last_day, found: [{ kind, subject, provider, recorded_usd, repriced_usd, records, counts }],
--   saved: [{ id, recorded_usd, before_usd, records, from, to }] }
-- returns: how many are current
create or replace function private.store_recommendations(run jsonb)
returns integer
language plpgsql volatile security definer set search_path = ''
as $$
declare
  workspace constant uuid := (run ->> 'workspace_id')::uuid;
  at_moment constant timestamptz := (run ->> 'computed_at')::timestamptz;
  current_count integer;
begin
  -- Computations of one workspace are stored one after another; an older one that comes last is dropped.
  update public.recommendation_runs as r set computed_at = at_moment, next_at = at_moment + interval '7 days'
  where r.workspace_id = workspace and (r.computed_at is null or r.computed_at < at_moment);
  if not found then
    return 0;
  end if;
  insert into public.recommendations as r (
    workspace_id, kind, subject, provider, recorded_usd, repriced_usd, records, counts, first_day, last_day, computed_at
  )
  select workspace, f.kind, f.subject, f.provider, f.recorded_usd, f.repriced_usd, f.records, f.counts,
    (run ->> 'first_day')::date, (run ->> 'last_day')::date, at_moment
  from jsonb_to_recordset(run -> 'found') as f (
    kind text, subject jsonb, provider text, recorded_usd numeric, repriced_usd numeric, records bigint, counts jsonb
  )
  order by f.kind, f.subject
  on conflict on constraint recommendations_subject_key do update
    set provider = excluded.provider, recorded_usd = excluded.recorded_usd, repriced_usd = excluded.repriced_usd,
      records = excluded.records, counts = excluded.counts, first_day = excluded.first_day, last_day = excluded.last_day,
      computed_at = excluded.computed_at, is_current = true;
  get diagnostics current_count = row_count;
  delete from public.recommendations as r
  where r.workspace_id = workspace and r.computed_at < at_moment and (r.decision is null or r.decision = 'later');
  update public.recommendations as r set is_current = false
  where r.workspace_id = workspace and r.computed_at < at_moment and r.is_current;
  update public.recommendations as r
  set saved_recorded_usd = s.recorded_usd, saved_before_usd = s.before_usd, saved_records = s.records, saved_from = s."from", saved_to = s."to"
  from jsonb_to_recordset(run -> 'saved') as s (id uuid, recorded_usd numeric, before_usd numeric, records bigint, "from" date, "to" date)
  where r.workspace_id = workspace and r.id = s.id and r.decision = 'accepted';
  return current_count;
end
$$;
