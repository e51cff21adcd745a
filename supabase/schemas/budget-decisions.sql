-- How requests for more are made, decided and withdrawn.

-- Asks for more of a budget or of a key's monthly limit, by a member of the workspace (the transaction's user) or by one of its keys.
-- asked: { workspace_id, key_id: null for a member, budget_id or limited_key_id, amount, percent, reason, until }
-- returns: { id }, or { refused: 'not_found' | 'over' (the day is past) | 'pending' (one waits, its `id`) | 'too_many' }
create function private.ask_for_more(asked jsonb)
returns jsonb
language plpgsql volatile security definer set search_path = ''
as $$
declare
  workspace constant uuid := (asked ->> 'workspace_id')::uuid;
  last_day constant date := (asked ->> 'until')::date;
  asking public.api_keys;
  author uuid;
  limited private.raisable_limits;
  waiting uuid;
  made public.budget_requests;
begin
  if asked ->> 'key_id' is not null then
    select k.* into asking from public.api_keys as k
    where k.workspace_id = workspace and k.id = (asked ->> 'key_id')::uuid and k.revoked_at is null;
    if not found or private.limit_to_ask(asking.id, (asked ->> 'budget_id')::uuid, (asked ->> 'limited_key_id')::uuid) is null then
      return '{"refused": "not_found"}';
    end if;
    author := asking.created_by;
  elsif workspace in (select private.member_workspaces(array['owner', 'admin', 'member'])) then
    author := auth.uid();
  else
    return '{"refused": "not_found"}';
  end if;
  -- The requests of one author are made one after another.
  perform pg_advisory_xact_lock(hashtextextended('outlay.budget_requests.' || workspace || coalesce(asking.id, author), 0));
  made.workspace_id := workspace;
  made.budget_id := (asked ->> 'budget_id')::uuid;
  made.limited_key_id := (asked ->> 'limited_key_id')::uuid;
  limited := private.limit_of_request(made);
  if not coalesce(limited.is_in_use, false) then
    return '{"refused": "not_found"}';
  end if;
  if last_day < (clock_timestamp() at time zone limited.time_zone)::date then
    return '{"refused": "over"}';
  end if;
  select r.id into waiting from public.budget_requests as r
  where r.workspace_id = workspace and coalesce(r.budget_id, r.limited_key_id) = limited.id and r.state = 'pending'
    and r.until >= (clock_timestamp() at time zone limited.time_zone)::date
    and r.key_id is not distinct from asking.id and r.requested_by is not distinct from author
  limit 1;
  if waiting is not null then
    return jsonb_build_object('refused', 'pending', 'id', waiting);
  end if;
  -- Each one is a mail to others.
  if (
    select count(*) >= 20 from public.budget_requests as r
    where r.workspace_id = workspace and r.created_at > clock_timestamp() - interval '1 day'
      and r.key_id is not distinct from asking.id and r.requested_by is not distinct from author
  ) then
    return '{"refused": "too_many"}';
  end if;
  insert into public.budget_requests (workspace_id, budget_id, limited_key_id, requested_by, key_id, amount, percent, reason, until)
  values (
    workspace, made.budget_id, made.limited_key_id, author, asking.id, (asked ->> 'amount')::numeric, (asked ->> 'percent')::numeric,
    asked ->> 'reason', last_day
  )
  returning * into made;
  perform private.tell_of_budget_request(made);
  return jsonb_build_object('id', made.id);
end
$$;
grant execute on function private.ask_for_more(jsonb) to outlay_service, service_role;

-- Approves or denies a request, by the transaction's user: once, never its author; an owner or admin of the workspace, or the
-- limit's owner within its `owner_percent`. Approving adds the amount to the limit in force, a raise that has not ended included;
-- the sum holds until one day, so that during a raise the other ends with it.
-- decision: { approve: boolean, amount, until: null for what was asked, answer, slack_user: who clicked, of a click in Slack }
-- returns: null where it is decided, or { refused: 'not_found' | 'forbidden' | 'own' | 'decided' | 'over' | 'more' |
--   'until' (first, last: the days that it may end on) | 'too_much' (most: the highest amount) }
create function private.decide_budget_request(workspace uuid, request uuid, decision jsonb)
returns jsonb
language plpgsql volatile security definer set search_path = ''
as $$
declare
  is_admin constant boolean := workspace in (select private.member_workspaces(array['owner', 'admin']));
  asked public.budget_requests;
  limited private.raisable_limits;
  today date;
  in_force boolean;
  present numeric;
  most numeric;
  granted numeric;
  first_end date;
  last_end date;
  last_day date;
begin
  if workspace not in (select private.member_workspaces()) then
    return '{"refused": "not_found"}';
  end if;
  -- Before the rows, as every change of a blocking budget: see hold_writers_of_budget.
  perform pg_advisory_xact_lock(hashtextextended('outlay.prices.' || workspace, 0));
  select r.* into asked from public.budget_requests as r where r.workspace_id = workspace and r.id = request for update;
  perform from public.budgets as b where b.workspace_id = workspace and b.id = asked.budget_id for no key update;
  perform from public.api_keys as k where k.workspace_id = workspace and k.id = asked.limited_key_id for no key update;
  limited := private.limit_of_request(asked);
  if not coalesce(limited.is_in_use, false) then
    return '{"refused": "not_found"}';
  end if;
  if not (is_admin or limited.owner_id is not distinct from auth.uid()) then
    return '{"refused": "forbidden"}';
  end if;
  if asked.requested_by is not distinct from auth.uid() then
    return '{"refused": "own"}';
  end if;
  if asked.state <> 'pending' then
    return jsonb_build_object('refused', 'decided', 'state', asked.state);
  end if;
  today := (clock_timestamp() at time zone limited.time_zone)::date;
  if asked.until < today then
    return '{"refused": "over"}';
  end if;
  if (decision ->> 'approve')::boolean then
    in_force := coalesce(limited.raised_until >= today, false);
    present := case when in_force then limited.raised_amount else limited.usual_amount end;
    granted := coalesce((decision ->> 'amount')::numeric, asked.amount);
    first_end := case when in_force then limited.raised_until else today end;
    last_end := case when in_force then limited.raised_until else asked.until end;
    last_day := coalesce((decision ->> 'until')::date, last_end);
    if granted > asked.amount then
      return '{"refused": "more"}';
    end if;
    if last_day < first_end or last_day > last_end then
      return jsonb_build_object('refused', 'until', 'first', first_end, 'last', last_end);
    end if;
    most := case when is_admin then 999999999999999 else limited.usual_amount * (100 + limited.owner_percent) / 100 end - present;
    if granted > most then
      return jsonb_build_object('refused', 'too_much', 'most', trim_scale(greatest(most, 0))::text);
    end if;
    update public.budgets set raised_amount = present + granted, raised_until = last_day
    where workspace_id = workspace and id = asked.budget_id;
    update public.api_keys set raised_limit = present + granted, raised_until = last_day
    where workspace_id = workspace and id = asked.limited_key_id;
  end if;
  update public.budget_requests as r
  set state = case when last_day is null then 'denied' else 'approved' end, decided_by = auth.uid(), decided_at = now(),
    granted_amount = granted, granted_until = last_day, answer = decision ->> 'answer',
    slack_user = decision ->> 'slack_user'
  where r.workspace_id = workspace and r.id = request
  returning r.* into asked;
  perform private.tell_of_budget_request(asked);
  return null;
end
$$;
grant execute on function private.decide_budget_request(uuid, uuid, jsonb) to outlay_service, service_role;

-- Takes back a request that is not decided, by its author. returns: whether there was one
create function private.withdraw_budget_request(workspace uuid, request uuid)
returns boolean
language plpgsql volatile security definer set search_path = ''
as $$
begin
  update public.budget_requests as r
  set state = 'withdrawn', decided_by = auth.uid(), decided_at = now()
  where r.workspace_id = workspace and r.id = request and r.state = 'pending' and r.requested_by = auth.uid()
    and workspace in (select private.member_workspaces());
  return found;
end
$$;
grant execute on function private.withdraw_budget_request(uuid, uuid) to outlay_service, service_role;
