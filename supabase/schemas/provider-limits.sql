-- Limits at providers that follow budgets: the service writes a budget's limit there, reads back what the provider holds, and looks
-- again every day. The budget decides; a limit that was changed at the provider is shown until an admin sets it again or accepts it.
create table public.provider_limits (
  workspace_id uuid not null references public.workspaces (id) on delete cascade,
  id uuid not null default gen_random_uuid(),
  -- Null where the budget was deleted and the limit at the provider is still to be removed.
  budget_id uuid,
  account_id uuid not null,
  -- As in public.provider_accounts, which members do not read.
  provider text not null check (char_length(provider) between 1 and 64),
  account text not null check (char_length(account) <= 128),
  kind text not null check (kind in ('organization', 'project', 'workspace', 'key', 'member', 'guardrail', 'repository')),
  -- The provider's id of what is limited. Only the service reads it.
  target text not null check (char_length(target) between 1 and 255),
  -- Its name there; until it was read, the one given with the link, or null.
  target_name text check (char_length(target_name) between 1 and 255),
  -- 'day', 'week' or 'month': that of the budget, which cannot change.
  period text not null check (period in ('day', 'week', 'month')),
  -- Whether the limit at the provider is removed with the budget.
  removes boolean not null,
  is_removing boolean not null default false,
  -- 'waiting': not written yet; 'equal': the provider holds the budget's limit; 'drift': it holds another; 'refused': it refused;
  -- 'gone': it no longer has what is limited.
  state text not null default 'waiting' check (state in ('waiting', 'equal', 'drift', 'refused', 'gone')),
  problem text check (char_length(problem) between 1 and 500),
  -- What was written last, as the provider holds it: rounded down.
  written_usd numeric,
  written_at timestamptz,
  -- What the provider held when it was read; null: no limit.
  held_usd numeric,
  held_period text,
  -- Whether the limit stops calls, or only alerts.
  held_stops boolean,
  read_at timestamptz,
  -- The next run writes the limit also where someone has changed it at the provider.
  writes boolean not null default true,
  -- Counts what was asked for, so that a run that began before does not hide it.
  revision integer not null default 1,
  asked_by uuid default auth.uid(),
  asked_by_email text default auth.email(),
  next_at timestamptz not null default now(),
  -- Failures since the last success.
  attempts integer not null default 0,
  lease uuid,
  leased_until timestamptz,
  created_at timestamptz not null default date_trunc('milliseconds', clock_timestamp()),
  created_by_email text default auth.email(),
  primary key (workspace_id, id),
  foreign key (workspace_id, account_id) references public.provider_accounts (workspace_id, id) on delete cascade,
  foreign key (workspace_id, budget_id) references public.budgets (workspace_id, id) on delete set null (budget_id),
  -- Two budgets would overwrite each other's limit.
  constraint provider_limits_target_key unique (workspace_id, account_id, kind, target, period)
);

create index provider_limits_due_idx on public.provider_limits (next_at);
create index provider_limits_budget_idx on public.provider_limits (workspace_id, budget_id);

alter table public.provider_limits enable row level security;
revoke all on public.provider_limits from anon, authenticated, service_role;
grant select (
  workspace_id, id, budget_id, account_id, provider, account, kind, target_name, period, removes, is_removing, state, problem,
  written_usd, written_at, held_usd, held_period, held_stops, read_at, next_at, leased_until, created_at, created_by_email
) on public.provider_limits to authenticated;
grant select on public.provider_limits to service_role;

create policy "A member reads the provider limits of their workspaces"
  on public.provider_limits for select to authenticated
  using (workspace_id in (select private.member_workspaces()));

create trigger made_provider_limits_are_audited
  after insert or delete on public.provider_limits
  for each row execute function private.audit_change('provider_limit');

-- What the service itself writes has entries of its own, by private.finish_provider_limit.
create trigger provider_limits_are_audited
  after update on public.provider_limits
  for each row when (new.writes and not old.writes or new.is_removing and not old.is_removing)
  execute function private.audit_change('provider_limit');

-- A budget's new limit is written, in the name of whoever changed it.
create function private.write_limits_of_budget()
returns trigger
language plpgsql volatile security definer set search_path = ''
as $$
begin
  update public.provider_limits as l
  set next_at = now(), attempts = 0, revision = l.revision + 1, asked_by = auth.uid(), asked_by_email = auth.email()
  where l.workspace_id = new.workspace_id and l.budget_id = new.id;
  return null;
end
$$;

create trigger limits_follow_budgets
  after update on public.budgets
  for each row when (
    (old.amount, old.raised_amount, old.raised_until, old.usd_rate)
    is distinct from (new.amount, new.raised_amount, new.raised_until, new.usd_rate)
  )
  execute function private.write_limits_of_budget();

-- With a budget, its limits at providers are removed or left, as was chosen.
create function private.end_limits_of_budget()
returns trigger
language plpgsql volatile security definer set search_path = ''
as $$
begin
  delete from public.provider_limits as l
  where l.workspace_id = old.workspace_id and l.budget_id = old.id and not l.removes and not l.is_removing;
  update public.provider_limits as l
  set is_removing = true, next_at = now(), attempts = 0, revision = l.revision + 1, asked_by = auth.uid(), asked_by_email = auth.email()
  where l.workspace_id = old.workspace_id and l.budget_id = old.id;
  return old;
end
$$;

create trigger limits_end_with_budgets
  before delete on public.budgets
  for each row execute function private.end_limits_of_budget();

-- Links a budget to a limit at a provider, as an admin of the workspace.
-- given: { id, budget_id, account_id, kind, target, target_name or null, period, removes }
-- returns: 'added'; 'no_account'; 'taken' where a budget is linked to it already; 'too_many'
create function private.add_provider_limit(workspace uuid, given jsonb, at_most integer)
returns text
language plpgsql volatile security definer set search_path = ''
as $$
declare
  of_account public.provider_accounts;
begin
  perform private.require_admin_of(workspace);
  select a.* into of_account from public.provider_accounts as a
  where a.workspace_id = workspace and a.id = (given ->> 'account_id')::uuid
  for update;
  if of_account.id is null then
    return 'no_account';
  end if;
  if (select count(*) from public.provider_limits as l where l.workspace_id = workspace) >= at_most then
    return 'too_many';
  end if;
  insert into public.provider_limits (workspace_id, id, budget_id, account_id, provider, account, kind, target, target_name, period, removes)
  select workspace, g.id, g.budget_id, of_account.id, of_account.provider, of_account.account, g.kind, g.target, g.target_name,
    g.period, g.removes
  from jsonb_to_record(given) as g (
    id uuid, budget_id uuid, kind text, target text, target_name text, period text, removes boolean
  )
  on conflict on constraint provider_limits_target_key do nothing;
  return case when found then 'added' else 'taken' end;
end
$$;
grant execute on function private.add_provider_limit(uuid, jsonb, integer) to outlay_service, service_role;

-- Has a limit read and, where `write` is true, written again, as an admin of the workspace.
-- returns: whether there is one that is not being removed
create function private.ask_for_provider_limit(workspace uuid, target_id uuid, write boolean)
returns boolean
language plpgsql volatile security definer set search_path = ''
as $$
begin
  perform private.require_admin_of(workspace);
  update public.provider_limits as l
  set next_at = now(), attempts = 0, writes = l.writes or write, revision = l.revision + 1,
    asked_by = auth.uid(), asked_by_email = auth.email()
  where l.workspace_id = workspace and l.id = target_id and not l.is_removing;
  return found;
end
$$;
grant execute on function private.ask_for_provider_limit(uuid, uuid, boolean) to outlay_service, service_role;

-- Unlinks a limit, as an admin of the workspace. With `at_provider`, it is removed there first; without, it stays as it is.
create function private.remove_provider_limit(workspace uuid, target_id uuid, at_provider boolean)
returns void
language plpgsql volatile security definer set search_path = ''
as $$
begin
  perform private.require_admin_of(workspace);
  if at_provider then
    update public.provider_limits as l
    set is_removing = true, next_at = now(), attempts = 0, problem = null, revision = l.revision + 1,
      asked_by = auth.uid(), asked_by_email = auth.email()
    where l.workspace_id = workspace and l.id = target_id;
  else
    delete from public.provider_limits as l where l.workspace_id = workspace and l.id = target_id;
  end if;
end
$$;
grant execute on function private.remove_provider_limit(uuid, uuid, boolean) to outlay_service, service_role;

-- An account with its sealed key, for an admin of the workspace.
-- returns: { workspace_id, id, provider, account, sealed }, or null
create function private.read_provider_account(workspace uuid, target uuid)
returns jsonb
language plpgsql volatile security definer set search_path = ''
as $$
begin
  perform private.require_admin_of(workspace);
  return (
    select jsonb_build_object(
      'workspace_id', a.workspace_id, 'id', a.id, 'provider', a.provider, 'account', a.account, 'sealed', k.sealed
    )
    from public.provider_accounts as a
    join private.provider_keys as k on k.workspace_id = a.workspace_id and k.account_id = a.id
    where a.workspace_id = workspace and a.id = target
  );
end
$$;
grant execute on function private.read_provider_account(uuid, uuid) to outlay_service, service_role;

-- Which of an account's things are limited by a budget already, for an admin of the workspace.
-- returns: [{ kind, target, period }]
create function private.list_limited_targets(workspace uuid, of_account uuid)
returns jsonb
language plpgsql stable security definer set search_path = ''
as $$
begin
  perform private.require_admin_of(workspace);
  return (
    select coalesce(jsonb_agg(jsonb_build_object('kind', l.kind, 'target', l.target, 'period', l.period)), '[]')
    from public.provider_limits as l
    where l.workspace_id = workspace and l.account_id = of_account
  );
end
$$;
grant execute on function private.list_limited_targets(uuid, uuid) to outlay_service, service_role;

-- Takes a limit that is due, for `lease_seconds`.
-- returns: null where none is due
create function private.claim_provider_limit(lease_seconds integer)
returns jsonb
language plpgsql volatile security definer set search_path = ''
as $$
declare
  at_moment constant timestamptz := clock_timestamp();
  taken public.provider_limits;
begin
  update public.provider_limits as l
  set lease = gen_random_uuid(), leased_until = at_moment + lease_seconds * interval '1 second'
  where (l.workspace_id, l.id) = (
    select due.workspace_id, due.id from public.provider_limits as due
    where due.next_at <= at_moment and (due.leased_until is null or due.leased_until <= at_moment)
      and not private.is_deleted(due.workspace_id)
    order by due.next_at
    limit 1
    for update skip locked
  )
  returning l.* into taken;
  if taken.id is null then
    return null;
  end if;
  return jsonb_build_object(
    'workspace_id', taken.workspace_id, 'id', taken.id, 'lease', taken.lease, 'revision', taken.revision,
    'account_id', taken.account_id, 'provider', taken.provider, 'account', taken.account, 'kind', taken.kind,
    'target', taken.target, 'period', taken.period, 'is_removing', taken.is_removing, 'writes', taken.writes,
    'written_usd', trim_scale(taken.written_usd)::text, 'attempts', taken.attempts,
    'limit_usd', (
      select trim_scale(private.budget_limit(b, at_moment))::text from public.budgets as b
      where b.workspace_id = taken.workspace_id and b.id = taken.budget_id
    ),
    'sealed', (
      select k.sealed from private.provider_keys as k where k.workspace_id = taken.workspace_id and k.account_id = taken.account_id
    )
  );
end
$$;
grant execute on function private.claim_provider_limit(integer) to outlay_service, service_role;

-- Records how a run ended, unless the lease was lost. What was asked for meanwhile is due at once; otherwise the limit is read again
-- in a day, or when a raise of the budget ends.
-- ended: { workspace_id, id, lease, revision, outcome: 'equal' | 'drift' | 'refused' | 'gone' | 'failed' | 'removed' | 'interrupted',
--   problem, name, held: { usd, period, stops }, written_usd, wrote, retry_in_seconds }
create function private.finish_provider_limit(ended jsonb)
returns void
language plpgsql volatile security definer set search_path = ''
as $$
declare
  outcome constant text := ended ->> 'outcome';
  at_moment constant timestamptz := clock_timestamp();
  former public.provider_limits;
  written constant numeric := (ended ->> 'written_usd')::numeric;
begin
  select l.* into former from public.provider_limits as l
  where l.workspace_id = (ended ->> 'workspace_id')::uuid and l.id = (ended ->> 'id')::uuid and l.lease = (ended ->> 'lease')::uuid
  for update;
  if former.id is null then
    return;
  end if;
  if outcome = 'removed' and former.is_removing then
    delete from public.provider_limits as l where l.workspace_id = former.workspace_id and l.id = former.id;
    return;
  end if;
  update public.provider_limits as l
  set lease = null, leased_until = null,
    state = case when outcome in ('equal', 'drift', 'refused', 'gone') then outcome else l.state end,
    problem = case when outcome = 'interrupted' then l.problem else left(ended ->> 'problem', 500) end,
    target_name = coalesce(left(ended ->> 'name', 255), l.target_name),
    written_usd = coalesce(written, l.written_usd),
    written_at = case when written is distinct from l.written_usd and written is not null then at_moment else l.written_at end,
    held_usd = case when ended ? 'held' then (ended #>> '{held,usd}')::numeric else l.held_usd end,
    held_period = case when ended ? 'held' then ended #>> '{held,period}' else l.held_period end,
    held_stops = case when ended ? 'held' then (ended #>> '{held,stops}')::boolean else l.held_stops end,
    read_at = case when ended ? 'held' then at_moment else l.read_at end,
    writes = l.writes and (outcome in ('failed', 'interrupted') or l.revision <> (ended ->> 'revision')::integer),
    attempts = case outcome when 'failed' then l.attempts + 1 when 'interrupted' then l.attempts else 0 end,
    asked_by = case when outcome in ('failed', 'interrupted') then l.asked_by end,
    asked_by_email = case when outcome in ('failed', 'interrupted') then l.asked_by_email end,
    next_at = case
      when l.revision <> (ended ->> 'revision')::integer then at_moment
      else least(
        at_moment + (ended ->> 'retry_in_seconds')::integer * interval '1 second',
        (
          select (b.raised_until + 1)::timestamp at time zone b.time_zone from public.budgets as b
          where b.workspace_id = l.workspace_id and b.id = l.budget_id
            and (b.raised_until + 1)::timestamp at time zone b.time_zone > at_moment
        )
      )
    end
  where l.workspace_id = former.workspace_id and l.id = former.id;
  if (ended ->> 'wrote')::boolean then
    perform private.write_audit(jsonb_build_object(
      'workspace_id', former.workspace_id, 'actor_id', former.asked_by, 'actor_email', former.asked_by_email,
      'action', 'provider_limit.written', 'subject', 'provider_limit ' || former.id,
      'before', jsonb_build_object('provider', former.provider, 'target_name', former.target_name, 'written_usd', former.written_usd),
      'after', jsonb_build_object(
        'provider', former.provider, 'target_name', coalesce(ended ->> 'name', former.target_name), 'written_usd', written
      )
    ));
  end if;
end
$$;
grant execute on function private.finish_provider_limit(jsonb) to outlay_service, service_role;

-- Whether a limit at a provider names a person: a member's, by the provider's id or name of them; any other, where its name or id
-- contains the e-mail address.
create function private.is_limit_of_person(l public.provider_limits, person text)
 returns boolean
 language sql
 stable
 set search_path to ''
as $function$
  select l.kind = 'member' and (private.is_person(l.target, person) or private.is_person(l.target_name, person))
    or position('@' in person) > 0
      and concat_ws(E'\n', l.target, l.target_name) ~ private.pattern_of_person(person)
$function$;
