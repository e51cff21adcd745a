-- Keeps the people whom bills name, and erases them.

alter table public.billed_facts
  -- The person whom the bill names: an e-mail address in lower case, or another name.
  add column end_user text check (char_length(end_user) between 1 and 255),
  drop constraint billed_facts_key,
  add constraint billed_facts_key unique nulls not distinct (workspace_id, statement_id, line, model, unit, tier, key_name, end_user);

-- Adds a bill with its statements, as an admin of the workspace: the user of the transaction's claims.
-- bill: { name, format, sha256, row_count, left_out_count, left_out_usd, statements: [{ id, provider, account, starts_on, ends_on,
-- amount_usd }], facts: [{ statement_id, line, model, unit, tier, key_name, end_user, amount_usd, list_usd, quantity }] }
-- returns: its id; null where the same content is there already
create or replace function private.add_bill(workspace uuid, bill jsonb)
returns uuid
language plpgsql volatile security definer set search_path = ''
as $$
declare
  added uuid;
begin
  if workspace not in (select private.member_workspaces(array['owner', 'admin'])) then
    raise exception 'only an admin adds a bill' using errcode = 'insufficient_privilege';
  end if;
  perform private.lock_bills(workspace);
  insert into public.bills (workspace_id, name, format, sha256, row_count, left_out_count, left_out_usd)
  select workspace, b.name, b.format, b.sha256, b.row_count, b.left_out_count, b.left_out_usd
  from jsonb_to_record(bill) as b (
    name text, format text, sha256 text, row_count integer, left_out_count integer, left_out_usd numeric
  )
  on conflict on constraint bills_content_key do nothing
  returning id into added;
  if added is null then
    return null;
  end if;
  insert into public.bill_statements (workspace_id, id, bill_id, provider, account, starts_on, ends_on, amount_usd)
  select workspace, s.id, added, s.provider, s.account, s.starts_on, s.ends_on, s.amount_usd
  from jsonb_to_recordset(bill -> 'statements') as s (
    id uuid, provider text, account text, starts_on date, ends_on date, amount_usd numeric
  );
  insert into public.billed_facts (
    workspace_id, statement_id, line, model, unit, tier, key_name, end_user, amount_usd, list_usd, quantity
  )
  select workspace, f.statement_id, f.line, f.model, f.unit, f.tier, f.key_name, f.end_user, f.amount_usd, f.list_usd, f.quantity
  from jsonb_to_recordset(bill -> 'facts') as f (
    statement_id uuid, line text, model text, unit text, tier text, key_name text, end_user text,
    amount_usd numeric, list_usd numeric, quantity numeric
  );
  return added;
end
$$;

-- Stores what a provider bills of some days, each as a statement of the bill of its month, and where the pull goes on. In the
-- transaction of private.begin_pulled_days.
-- days: [{ id, day, amount_usd, sha256, facts: [{ line, model, unit, tier, key_name, end_user, amount_usd, list_usd, quantity }] }]
create or replace function private.store_pulled_days(workspace uuid, target uuid, days jsonb, following date)
returns void
language plpgsql volatile security definer set search_path = ''
as $$
declare
  pulled public.provider_accounts;
begin
  select p.* into strict pulled from public.provider_accounts as p where p.workspace_id = workspace and p.id = target;
  insert into public.bills (workspace_id, name, format, row_count, provider_account_id)
  select workspace, concat_ws(' ', pulled.provider, nullif(pulled.account, ''), months.name), 'pull', 0, target
  from (select distinct left(d ->> 'day', 7) as name from jsonb_array_elements(days) as d order by 1) as months
  on conflict on constraint bills_provider_account_key do nothing;

  insert into public.bill_statements (workspace_id, id, bill_id, provider, account, starts_on, ends_on, amount_usd, sha256)
  select workspace, d.id, b.id, pulled.provider, pulled.account, d.day, d.day + 1, d.amount_usd, d.sha256
  from jsonb_to_recordset(days) as d (id uuid, day date, amount_usd numeric, sha256 text)
  join public.bills as b on b.workspace_id = workspace and b.provider_account_id = target
    and b.name = concat_ws(' ', pulled.provider, nullif(pulled.account, ''), to_char(d.day, 'YYYY-MM'))
  order by d.day;

  insert into public.billed_facts (
    workspace_id, statement_id, line, model, unit, tier, key_name, end_user, amount_usd, list_usd, quantity
  )
  select workspace, d.id, f.line, f.model, f.unit, f.tier, f.key_name, f.end_user, f.amount_usd, f.list_usd, f.quantity
  from jsonb_to_recordset(days) as d (id uuid, facts jsonb)
  cross join lateral jsonb_to_recordset(d.facts) as f (
    line text, model text, unit text, tier text, key_name text, end_user text, amount_usd numeric, list_usd numeric, quantity numeric
  );

  update public.bills as b
  set row_count = b.row_count + counted.facts
  from (
    select left(d ->> 'day', 7) as month, sum(jsonb_array_length(d -> 'facts'))::integer as facts
    from jsonb_array_elements(days) as d group by 1
  ) as counted
  where b.workspace_id = workspace and b.provider_account_id = target
    and b.name = concat_ws(' ', pulled.provider, nullif(pulled.account, ''), counted.month);

  update public.provider_accounts set next_day = following where workspace_id = workspace and id = target;
end
$$;

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

-- The last step of an erasure removes the name from the texts that contain it, and from bills.
create or replace function private.erase_name_in_texts()
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

-- Lists where a person's name occurs, for an admin who is about to have it erased. Changes nothing.
-- returns: { spellings, message_count, billed_count, budgets, api_keys, alert_count, audit_count, request_count, tags }; `tags` stay as they
--   are; `request_count` is of the first 100,000 requests
create or replace function private.find_person(workspace uuid, person text)
 returns jsonb
 language plpgsql
 stable security definer
 set search_path to ''
as $function$
declare
  pattern constant text := private.pattern_of_person(person);
  spellings constant text[] := array(select private.spellings_of_person(workspace, person) order by 1);
begin
  perform private.require_admin_of(workspace);
  return jsonb_build_object(
    'spellings', spellings,
    'message_count', (
      select coalesce(sum(t.message_count), 0) from public.daily_totals as t
      where t.workspace_id = workspace and t.dimension = 'user' and t.value = any (spellings)
    ),
    'billed_count', (
      select count(*) from public.billed_facts as f
      where f.workspace_id = workspace and (
        private.is_person(f.end_user, person) or position('@' in person) > 0 and (f.key_name ~ pattern or f.line ~ pattern)
      )
    ),
    'budgets', (
      select coalesce(jsonb_agg(b.name order by b.name), '[]') from public.budgets as b
      where b.workspace_id = workspace and (b.name ~ pattern or b.scope_type = 'user' and private.is_person(b.scope_value, person))
    ),
    'api_keys', (
      select coalesce(jsonb_agg(k.name order by k.name), '[]') from public.api_keys as k
      where k.workspace_id = workspace and k.conditions -> 'users' ?| spellings
    ),
    'alert_count', (
      select count(*) from public.alerts as a
      where a.workspace_id = workspace and a.details is distinct from private.without_name(a.details, person, '')
    ),
    'audit_count', (
      select count(*) from public.audit_log as l
      where l.workspace_id = workspace
        and (l.before is distinct from private.without_name(l.before, person, '') or l.after is distinct from private.without_name(l.after, person, ''))
    ),
    'request_count', (
      select count(*) from (
        select i.request from private.idempotency as i where i.workspace_id = workspace limit 100000
      ) as kept
      where kept.request is distinct from private.without_person(kept.request, person)
    ),
    'tags', (
      select coalesce(jsonb_agg(distinct t.value), '[]') from public.daily_totals as t
      where t.workspace_id = workspace and t.dimension = 'tag' and t.value ~ pattern
    )
  );
end
$function$;
