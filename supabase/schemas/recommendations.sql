-- Recommendations: changes that would have saved money, computed each week from what was recorded, and what was decided about them.

-- When each workspace's recommendations were computed, and when they are computed next.
create table public.recommendation_runs (
  workspace_id uuid primary key references public.workspaces (id) on delete cascade,
  computed_at timestamptz,
  next_at timestamptz not null default now()
);

create index recommendation_runs_next_at_idx on public.recommendation_runs (next_at);

alter table public.recommendation_runs enable row level security;
revoke all on public.recommendation_runs from anon, authenticated, service_role;
grant select on public.recommendation_runs to authenticated, outlay_key, service_role;

create policy "A member reads when recommendations were computed"
  on public.recommendation_runs for select to authenticated
  using (workspace_id in (select private.member_workspaces()));

create policy "A key that may read all spend reads when they were computed"
  on public.recommendation_runs for select to outlay_key
  using (
    workspace_id = (select private.key_workspace())
    and (select private.key_environment()) = 'live' and (select private.key_is_unconfined())
  );

-- What is recommended, one row for each change. A row that is no longer found is deleted unless somebody decided about it.
create table public.recommendations (
  workspace_id uuid not null references public.workspaces (id) on delete cascade,
  id uuid not null default gen_random_uuid(),
  kind text not null,
  -- What it is about: { project_id, provider, model, feature, tier, target }, { provider, model, tier, target, prices } for a
  -- disputed price, or { account_id } for seats.
  subject jsonb not null,
  provider text not null check (char_length(provider) between 1 and 64),
  -- Whether the last computation found it.
  is_current boolean not null default true,
  recorded_usd numeric not null,
  repriced_usd numeric not null,
  records bigint not null,
  first_day date not null,
  last_day date not null,
  computed_at timestamptz not null,
  decision text,
  reason text,
  until date,
  decided_by uuid references public.profiles (id) on delete set null,
  decided_at timestamptz,
  -- Of an accepted one: what was recorded at the target since, and what it would have cost before.
  saved_recorded_usd numeric,
  saved_before_usd numeric,
  saved_records bigint,
  saved_from date,
  saved_to date,
  -- Of prompt caching: { tokens, calls, writes }, the tokens that the calls can share, the calls, and how many of them write.
  counts jsonb,
  primary key (workspace_id, id),
  constraint recommendations_subject_key unique (workspace_id, kind, subject),
  constraint recommendations_kind_check check (
    kind in ('batch_tier', 'smaller_model', 'standard_tier', 'prompt_caching', 'unused_seats', 'disputed_price')
  ),
  constraint recommendations_caching_has_counts check ((kind = 'prompt_caching') = (counts is not null)),
  constraint recommendations_decision_check check (decision in ('accepted', 'declined', 'later')),
  constraint recommendations_reasons_are_of_declined
    check (case when decision = 'declined' then char_length(reason) between 1 and 500 else reason is null end),
  constraint recommendations_later_ones_have_a_day check ((decision is not distinct from 'later') = (until is not null)),
  constraint recommendations_decided_have_a_time check ((decision is null) = (decided_at is null)),
  constraint recommendations_savings_are_whole check (
    num_nulls(saved_recorded_usd, saved_before_usd, saved_records, saved_from, saved_to) in (0, 5)
  )
);

create index recommendations_decided_by_idx on public.recommendations (decided_by);

alter table public.recommendations enable row level security;
revoke all on public.recommendations from anon, authenticated, service_role;
grant select on public.recommendations to authenticated, outlay_key, service_role;
grant update (decision, reason, until) on public.recommendations to authenticated;

-- Seats are of provider accounts, which only admins read.
create policy "A member reads recommendations, an admin those of seats"
  on public.recommendations for select to authenticated
  using (
    case
      when kind = 'unused_seats' then workspace_id in (select private.member_workspaces(array['owner', 'admin']))
      else workspace_id in (select private.member_workspaces())
    end
  );

create policy "A key that may read all spend reads recommendations"
  on public.recommendations for select to outlay_key
  using (
    kind <> 'unused_seats' and workspace_id = (select private.key_workspace())
    and (select private.key_environment()) = 'live' and (select private.key_is_unconfined())
  );

create policy "An admin decides the recommendations of their workspaces"
  on public.recommendations for update to authenticated
  using (workspace_id in (select private.member_workspaces(array['owner', 'admin'])))
  with check (workspace_id in (select private.member_workspaces(array['owner', 'admin'])));

-- Who decides and when is not the caller's to say. A decision that is taken back takes what it saved with it.
create function private.sign_recommendation()
returns trigger
language plpgsql set search_path = ''
as $$
begin
  new.decided_by := case when new.decision is not null then auth.uid() end;
  new.decided_at := case when new.decision is not null then now() end;
  if new.decision is distinct from 'accepted' then
    new.saved_recorded_usd := null;
    new.saved_before_usd := null;
    new.saved_records := null;
    new.saved_from := null;
    new.saved_to := null;
  end if;
  return new;
end
$$;

create trigger recommendations_are_signed before update of decision, reason, until on public.recommendations
  for each row execute function private.sign_recommendation();
create trigger recommendations_are_audited after update of decision, reason, until on public.recommendations
  for each row execute function private.audit_change('recommendation');

-- Takes a workspace whose recommendations are due, for 15 minutes: one whose computation failed is due again after that. A workspace
-- with live spend in the last 30 days is due for the first time.
-- returns: { workspace_id, time_zone, accepted: [{ id, subject with its kind, decided_at }] }, or null
create function private.claim_recommendations()
returns jsonb
language plpgsql volatile security definer set search_path = ''
as $$
declare
  claimed uuid;
begin
  insert into public.recommendation_runs (workspace_id)
  select w.id from public.workspaces as w
  where w.deleted_at is null
    and not exists (select from public.recommendation_runs as r where r.workspace_id = w.id)
    and exists (
      select from public.daily_totals as t
      where t.workspace_id = w.id and t.environment = 'live' and t.dimension = 'provider'
        and t.day >= current_date - 30 and t.day < current_date
    )
  on conflict do nothing;
  update public.recommendation_runs as r set next_at = now() + interval '15 minutes'
  where r.workspace_id = (
    select due.workspace_id from public.recommendation_runs as due
    join public.workspaces as w on w.id = due.workspace_id and w.deleted_at is null
    where due.next_at <= now()
    order by due.next_at
    limit 1
    for update of due skip locked
  )
  returning r.workspace_id into claimed;
  return (
    select jsonb_build_object(
      'workspace_id', w.id, 'time_zone', w.time_zone,
      'accepted', coalesce((
        select jsonb_agg(jsonb_build_object('id', r.id, 'subject', r.subject || jsonb_build_object('kind', r.kind), 'decided_at', r.decided_at))
        from public.recommendations as r
        where r.workspace_id = w.id and r.decision = 'accepted' and r.kind <> 'unused_seats'
      ), '[]')
    )
    from public.workspaces as w where w.id = claimed
  );
end
$$;
grant execute on function private.claim_recommendations() to outlay_service, service_role;

-- Stores what a computation found, and when the next one is.
-- run: { workspace_id, computed_at, first_day, last_day, found: [{ kind, subject, provider, recorded_usd, repriced_usd, records, counts }],
--   saved: [{ id, recorded_usd, before_usd, records, from, to }] }
-- returns: how many are current
create function private.store_recommendations(run jsonb)
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
grant execute on function private.store_recommendations(jsonb) to outlay_service, service_role;

-- Has the recommendations of a workspace computed, by an admin of it: at most once in ten minutes.
-- returns: whether they are going to be
create function private.request_recommendations(workspace uuid)
returns boolean
language plpgsql volatile security definer set search_path = ''
as $$
begin
  if workspace not in (select private.member_workspaces(array['owner', 'admin'])) then
    return false;
  end if;
  insert into public.recommendation_runs as r (workspace_id, next_at) values (workspace, now())
  on conflict (workspace_id) do update set next_at = least(r.next_at, now())
  where r.computed_at is null or r.computed_at < now() - interval '10 minutes';
  return found;
end
$$;
grant execute on function private.request_recommendations(uuid) to outlay_service, service_role;

-- The seats of provider accounts that nobody used for 30 days, with what they cost a month.
create function private.unused_seats(workspace uuid)
returns jsonb
language sql stable security definer set search_path = ''
as $$
  select coalesce(jsonb_agg(jsonb_build_object(
    'account_id', p.id, 'provider', p.provider, 'unused', p.unused_seat_count, 'seat_usd', p.seat_usd::text
  ) order by p.id), '[]')
  from public.provider_accounts as p
  where p.workspace_id = workspace and p.unused_seat_count > 0 and p.seat_usd > 0
    and p.last_success_at > now() - interval '30 days'
$$;
grant execute on function private.unused_seats(uuid) to outlay_service, service_role;
