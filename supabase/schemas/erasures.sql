-- The erasure of people that messages name.

-- Admins can have a person erased: their messages stay, under a pseudonym that cannot be traced back to them. The service does
-- this in short steps, beside requests; the last step deletes the name.
create table public.erasures (
  workspace_id uuid not null references public.workspaces (id) on delete cascade,
  id uuid not null default gen_random_uuid(),
  end_user text check (char_length(end_user) between 1 and 255),
  pseudonym text not null default 'erased-' || left(replace(gen_random_uuid()::text, '-', ''), 12),
  status text not null default 'pending' check (status in ('pending', 'running', 'done')),
  changed_count bigint not null default 0,
  cursor_key text,
  cursor_environment text,
  requested_by uuid default auth.uid(),
  created_at timestamptz not null default now(),
  finished_at timestamptz,
  primary key (workspace_id, id),
  constraint erasures_end_forgets_the_name check ((status = 'done') = (end_user is null))
);

create index erasures_open_idx on public.erasures (created_at) where status <> 'done';

alter table public.erasures enable row level security;
revoke all on public.erasures from anon, authenticated, service_role;
grant insert (workspace_id, end_user),
  select (workspace_id, id, pseudonym, status, changed_count, created_at, finished_at)
  on public.erasures to authenticated;

create policy "An admin reads the erasures of their workspaces"
  on public.erasures for select to authenticated
  using (workspace_id in (select private.member_workspaces(array['owner', 'admin'])));

create policy "An admin has people of their workspaces erased"
  on public.erasures for insert to authenticated
  with check (workspace_id in (select private.member_workspaces(array['owner', 'admin'])) and requested_by = (select auth.uid()));

-- The audit log says that a person was erased, and not who.
create function private.audit_erasure()
returns trigger
language plpgsql security definer set search_path = ''
as $$
begin
  insert into public.audit_log (workspace_id, actor_id, actor_email, action, subject, after, address)
  values (
    new.workspace_id, auth.uid(), auth.email(), 'person.erased', 'person ' || new.id,
    jsonb_build_object('pseudonym', new.pseudonym), nullif(current_setting('request.address', true), '')
  );
  return null;
end
$$;

create trigger erasures_are_audited after insert on public.erasures for each row execute function private.audit_erasure();

-- Erasing an e-mail address erases each of its spellings, all with the same pseudonym.
create function private.erase_other_spellings()
 returns trigger
 language plpgsql
 security definer
 set search_path to ''
as $function$
begin
  insert into public.erasures (workspace_id, end_user, pseudonym)
  select new.workspace_id, spelling, new.pseudonym
  from private.spellings_of_person(new.workspace_id, new.end_user) as spelling
  where spelling <> new.end_user;
  return null;
end
$function$;

create trigger erasures_are_of_every_spelling after insert on public.erasures
  for each row when (pg_trigger_depth() = 0) execute function private.erase_other_spellings();

-- Puts a pseudonym in the place of a person in what providers billed: as the person, and in the keys and lines that contain the name.
-- Another name than an e-mail address is looked for in the rows of that person alone. Rows that become alike are summed.
create function private.erase_billed_person(workspace uuid, name text, pseudonym text)
 returns void
 language plpgsql
 set search_path to ''
as $function$
declare
  pattern constant text := private.pattern_of_person(name);
begin
  with named as (
    delete from public.billed_facts as f
    where f.workspace_id = workspace and (
      private.is_person(f.end_user, name) or position('@' in name) > 0 and (f.key_name ~ pattern or f.line ~ pattern)
    )
    returning *
  ), renamed as (
    select n.statement_id, n.model, n.unit, n.tier, n.amount_usd, n.list_usd, n.quantity,
      left(regexp_replace(n.line, pattern, pseudonym, 'g'), 300) as line,
      left(regexp_replace(n.key_name, pattern, pseudonym, 'g'), 200) as key_name,
      case when private.is_person(n.end_user, name) then pseudonym else n.end_user end as end_user
    from named as n
  )
  insert into public.billed_facts (
    workspace_id, statement_id, line, model, unit, tier, key_name, end_user, amount_usd, list_usd, quantity
  )
  select workspace, r.statement_id, r.line, r.model, r.unit, r.tier, r.key_name, r.end_user, sum(r.amount_usd),
    case when count(r.list_usd) = count(*) then sum(r.list_usd) end, case when count(r.quantity) = count(*) then sum(r.quantity) end
  from renamed as r
  group by r.statement_id, r.line, r.model, r.unit, r.tier, r.key_name, r.end_user;
end
$function$;

-- The last step of an erasure removes the name from the texts that contain it, and from bills. Limits at providers that name the person
-- are unlinked and stay there, because each of them is read again, with the name, every day.
create function private.erase_name_in_texts()
 returns trigger
 language plpgsql
 security definer
 set search_path to ''
as $function$
declare
  pattern constant text := private.pattern_of_person(old.end_user);
begin
  update public.budgets
  set name = left(regexp_replace(name, pattern, old.pseudonym, 'g'), 120),
    scope_value = case when scope_type = 'user' and private.is_person(scope_value, old.end_user) then old.pseudonym else scope_value end
  where workspace_id = old.workspace_id and (name ~ pattern or scope_type = 'user' and private.is_person(scope_value, old.end_user));
  update public.alerts set details = private.without_name(details, old.end_user, old.pseudonym)
  where workspace_id = old.workspace_id and details is distinct from private.without_name(details, old.end_user, old.pseudonym);
  delete from public.provider_limits as l where l.workspace_id = old.workspace_id and private.is_limit_of_person(l, old.end_user);
  update public.audit_log
  set before = private.without_name(before, old.end_user, old.pseudonym), after = private.without_name(after, old.end_user, old.pseudonym)
  where workspace_id = old.workspace_id and (
    before is distinct from private.without_name(before, old.end_user, old.pseudonym)
    or after is distinct from private.without_name(after, old.end_user, old.pseudonym)
  );
  perform private.erase_billed_person(old.workspace_id, old.end_user, old.pseudonym);
  return new;
end
$function$;

create trigger erasures_leave_no_name_in_texts before update of status on public.erasures
  for each row when (new.status = 'done' and old.status <> 'done') execute function private.erase_name_in_texts();

-- The request of an idempotency key without a person: null replaces what has the name, and a retry may send anything there.
-- That is the user who is the person, and a label, notes, metadata, a session and tags that have the name in them.
create function private.without_person(request jsonb, name text)
 returns jsonb
 language plpgsql
 immutable
 set search_path to ''
as $function$
declare
  pattern constant text := private.pattern_of_person(name);
  quoted constant text := to_jsonb(lower(name))::text;
begin
  if position(substr(quoted, 2, length(quoted) - 2) in lower(request::text)) = 0 then
    return request;
  end if;
  return (
    select jsonb_object_agg(field.key, case
      when field.key = 'message' then private.without_person(field.value, name)
      when field.key = 'items' and jsonb_typeof(field.value) = 'array' then (
        select jsonb_agg(private.without_person(item, name) order by place)
        from jsonb_array_elements(field.value) with ordinality as items (item, place)
      )
      when field.key = 'user' and private.is_person(field.value #>> '{}', name)
        or field.key in ('label', 'notes', 'metadata', 'session', 'tags') and exists (
          select from jsonb_path_query(field.value, 'strict $.**') as part
          where part #>> '{}' ~ pattern and jsonb_typeof(part) = 'string'
            or jsonb_typeof(part) = 'object' and exists (select from jsonb_object_keys(part) as key where key ~ pattern)
        ) then 'null'
      else field.value
    end)
    from jsonb_each(request) as field
  );
end
$function$;

-- Does one step of the oldest erasure that no process is working on. First a day of postings with all their sums, at most as
-- many as asked for at a time; then the answers to idempotency keys, ten times as many; then what else names the person. Sums
-- of messages that were removed change as they are.
--
-- returns: how many postings and answers it changed; null where there is nothing to do
create function private.erase_some(at_most integer)
 returns integer
 language plpgsql
 security definer
 set search_path to ''
 set "TimeZone" to 'UTC'
as $function$
declare
  job public.erasures;
  first_day date;
  of_month date;
  zone text;
  changes public.daily_spend[];
  changed integer;
  last_key text;
  last_environment text;
  seen integer;
  old_json text;
  new_json text;
begin
  -- While the days of a workspace are summed anew, its people wait.
  select * into job from public.erasures as e
  where status <> 'done' and not exists (select from public.time_zone_changes as c where c.workspace_id = e.workspace_id)
  order by created_at, id limit 1 for update skip locked;
  if job.id is null then
    return null;
  end if;
  -- No change of zone begins or ends until the transaction ends.
  perform private.hold_budgets(array[job.workspace_id]);
  if exists (select from public.time_zone_changes as c where c.workspace_id = job.workspace_id) then
    return null;
  end if;
  zone := private.time_zone_of(job.workspace_id);
  select min(day) into first_day from public.daily_spend
  where workspace_id = job.workspace_id and end_user = job.end_user;

  if first_day is not null then
    of_month := date_trunc('month', first_day)::date;
    with found as (
      select m.id, m.part, m.occurred_at from public.messages as m
      where m.workspace_id = job.workspace_id and m.end_user = job.end_user
        and private.is_on_days(m.occurred_at, zone, first_day, first_day + 1)
      limit at_most
      for update
    ), renamed as (
      update public.messages as m set end_user = job.pseudonym
      from found
      where m.workspace_id = job.workspace_id and m.id = found.id and m.part = found.part
        and m.occurred_at = found.occurred_at
      returning m.*
    ), sums as (
      select project_id, api_key_id, type, provider, model, feature, source, environment, tags,
        sum(amount_usd) as amount_usd, count(*) as posting_count,
        coalesce(sum(private.sign_of(voids)) filter (where part = 0), 0) as message_count,
        sum(private.sign_of(voids)) as item_count,
        coalesce(sum(private.sign_of(voids)) filter (where cost_status = 'unpriced'), 0) as unpriced_count,
        coalesce(sum(list_price_usd), 0) as included_usd
      from renamed
      group by 1, 2, 3, 4, 5, 6, 7, 8, 9
    )
    select array_agg(row(
        job.workspace_id, first_day, project_id, api_key_id, type, provider, model, feature, source, environment,
        side * amount_usd, side * message_count, side * item_count, side * unpriced_count,
        case side when 1 then job.pseudonym else job.end_user end, tags, side * included_usd
      )::public.daily_spend),
      coalesce(sum(posting_count) filter (where side = 1), 0)
    into changes, changed
    from sums cross join (values (1), (-1)) as sides (side);
    if changed = 0 then
      select array_agg(row(
          d.workspace_id, d.day, d.project_id, d.api_key_id, d.type, d.provider, d.model, d.feature, d.source, d.environment,
          side * d.amount_usd, side * d.message_count, side * d.item_count, side * d.unpriced_count,
          case side when 1 then job.pseudonym else job.end_user end, d.tags, side * d.included_usd
        )::public.daily_spend)
      into changes
      from public.daily_spend as d cross join (values (1), (-1)) as sides (side)
      where d.workspace_id = job.workspace_id and d.end_user = job.end_user and d.day = first_day;
    end if;
    perform private.add_daily_spend(changes);
    perform private.count_waiting_spend(job.workspace_id);
    delete from private.waiting_spend where workspace_id = job.workspace_id;
    -- Sums of nothing may stand for messages and their voids, which are to be found by them: they go after the last posting.
    if changed < at_most then
      delete from public.daily_spend
      where workspace_id = job.workspace_id and end_user = job.end_user and day = first_day
        and amount_usd = 0 and message_count = 0 and item_count = 0 and unpriced_count = 0 and included_usd = 0;
      delete from public.daily_totals
      where workspace_id = job.workspace_id and dimension = 'user' and value = job.end_user and day = first_day
        and amount_usd = 0 and message_count = 0 and unpriced_count = 0 and included_usd = 0;
      delete from public.monthly_spend
      where workspace_id = job.workspace_id and end_user = job.end_user and month = of_month
        and amount_usd = 0 and message_count = 0 and item_count = 0 and unpriced_count = 0 and included_usd = 0;
      delete from public.monthly_totals as t
      where t.workspace_id = job.workspace_id and t.environment in ('live', 'test') and t.dimension = 'user'
        and t.first_day = of_month and t.value = job.end_user
        and t.amount_usd = 0 and t.message_count = 0 and t.unpriced_count = 0 and t.included_usd = 0;
    end if;
    update public.erasures set status = 'running', changed_count = changed_count + changed
    where workspace_id = job.workspace_id and id = job.id;
    return changed;
  end if;

  with next as materialized (
    select key, environment from private.idempotency
    where workspace_id = job.workspace_id
      and (job.cursor_key is null or (key, environment) > (job.cursor_key, job.cursor_environment))
    order by key, environment
    limit at_most * 10
  ), forgotten as (
    update private.idempotency as i set request = private.without_person(i.request, job.end_user)
    from next
    where i.workspace_id = job.workspace_id and i.key = next.key and i.environment = next.environment
      and i.request is distinct from private.without_person(i.request, job.end_user)
    returning 1
  )
  select count(*), (array_agg(key order by key desc, environment desc))[1],
    (array_agg(environment order by key desc, environment desc))[1], (select count(*) from forgotten)
  into seen, last_key, last_environment, changed
  from next;
  if seen > 0 then
    update public.erasures
    set status = 'running', cursor_key = last_key, cursor_environment = last_environment
    where workspace_id = job.workspace_id and id = job.id;
    return changed;
  end if;

  update public.budgets
  set scope_value = job.pseudonym, name = case when name = left(job.end_user, 120) then job.pseudonym else name end
  where workspace_id = job.workspace_id and scope_type = 'user' and scope_value = job.end_user;
  -- A condition without its name would allow every user; with the pseudonym it allows nobody in the place of the person.
  update public.api_keys
  set conditions = jsonb_set(conditions, '{users}', (
    select jsonb_agg(case when name = job.end_user then job.pseudonym else name end order by place)
    from jsonb_array_elements_text(conditions -> 'users') with ordinality as users (name, place)
  ))
  where workspace_id = job.workspace_id and conditions -> 'users' ? job.end_user;

  old_json := to_jsonb(job.end_user)::text;
  new_json := to_jsonb(job.pseudonym)::text;
  delete from public.refused_exports
  where workspace_id = job.workspace_id and position(old_json in records::text) > 0;
  update private.call_tellings set names = names - 'user'
  where workspace_id = job.workspace_id and names ->> 'user' = job.end_user;
  update public.alerts set details = replace(details::text, old_json, new_json)::jsonb
  where workspace_id = job.workspace_id and position(old_json in details::text) > 0;
  update public.source_refusals set example = null
  where workspace_id = job.workspace_id and position(old_json in example::text) > 0;
  -- The only change of the audit log there is: what was changed, when and by whom stays.
  update public.audit_log
  set before = replace(before::text, old_json, new_json)::jsonb, after = replace(after::text, old_json, new_json)::jsonb
  where workspace_id = job.workspace_id and (subject like 'budget %' or subject like 'api\_key %')
    and (position(old_json in before::text) > 0 or position(old_json in after::text) > 0);

  update public.erasures
  set status = 'done', end_user = null, cursor_key = null, cursor_environment = null, finished_at = now()
  where workspace_id = job.workspace_id and id = job.id;
  return 0;
end
$function$;
grant execute on function private.erase_some(integer) to outlay_service, service_role;
