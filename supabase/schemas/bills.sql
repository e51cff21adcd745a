-- What providers bill. Bills lie beside the ledger: nothing here is spend, and no sum of spend reads it.

-- A bill: a file of a provider's invoice or cost export that somebody gave, or what was pulled of a month from a provider.
create table public.bills (
  workspace_id uuid not null references public.workspaces (id) on delete cascade,
  id uuid not null default gen_random_uuid(),
  name text not null check (char_length(name) between 1 and 200),
  format text not null check (format in ('csv', 'focus', 'cur', 'pull')),
  -- Of the file's content; null where there is no file.
  sha256 text check (sha256 ~ '^[0-9a-f]{64}$'),
  row_count integer not null,
  -- Rows of a FOCUS or CUR file about other services than AI, which are not kept, and what they come to.
  left_out_count integer not null default 0,
  left_out_usd numeric not null default 0,
  created_by uuid default auth.uid(),
  created_by_email text default auth.email(),
  created_at timestamptz not null default date_trunc('milliseconds', clock_timestamp()),
  -- The account that it is pulled from, until that is removed.
  provider_account_id uuid,
  primary key (workspace_id, id),
  constraint bills_content_key unique (workspace_id, sha256),
  constraint bills_provider_account_key unique (workspace_id, provider_account_id, name),
  constraint bills_origin_check check ((format = 'pull') = (sha256 is null) and (format = 'pull' or provider_account_id is null)),
  constraint bills_provider_account_fkey foreign key (workspace_id, provider_account_id)
    references public.provider_accounts (workspace_id, id) on delete set null (provider_account_id)
);

alter table public.bills enable row level security;
revoke all on public.bills from anon, authenticated, service_role;
grant select on public.bills to authenticated, outlay_key, service_role;

create policy "A member reads the bills of their workspaces"
  on public.bills for select to authenticated
  using (workspace_id in (select private.member_workspaces()));

-- Bills are of all projects and people.
create policy "A key that may read all spend reads bills"
  on public.bills for select to outlay_key
  using (
    workspace_id = (select private.key_workspace())
    and (select private.key_environment()) = 'live' and (select private.key_is_unconfined())
  );

create trigger bills_are_audited
  after insert or delete on public.bills
  for each row execute function private.audit_change('bill');

-- What a bill states of a period of one provider and account, as a whole. A statement is replaced by later ones of the same
-- provider that overlap with it, unless both name different accounts. So two reports of the same money are never summed, what was
-- stated before is kept, and returns when the later bill is deleted.
create table public.bill_statements (
  workspace_id uuid not null references public.workspaces (id) on delete cascade,
  id uuid not null,
  bill_id uuid not null,
  -- In the order in which statements were made.
  number bigint not null generated always as identity,
  -- As a key: in lower case, one spelling for each provider.
  provider text not null check (char_length(provider) between 1 and 64),
  account text not null default '' check (char_length(account) <= 128),
  starts_on date not null,
  -- The day after its last day.
  ends_on date not null,
  amount_usd numeric not null check (scale(amount_usd) <= 18),
  -- Of its facts, where it was pulled: a day that has not changed is not stored again.
  sha256 text check (sha256 ~ '^[0-9a-f]{64}$'),
  primary key (workspace_id, id),
  constraint bill_statements_bill_key foreign key (workspace_id, bill_id) references public.bills (workspace_id, id) on delete cascade,
  constraint bill_statements_within_month
    check (ends_on > starts_on and ends_on <= (date_trunc('month', starts_on::timestamp) + interval '1 month')::date)
);

create index bill_statements_bill_idx on public.bill_statements (workspace_id, bill_id);
create index bill_statements_period_idx on public.bill_statements (workspace_id, provider, starts_on);

alter table public.bill_statements enable row level security;
revoke all on public.bill_statements from anon, authenticated, service_role;
grant select on public.bill_statements to authenticated, outlay_key, service_role;

create policy "A member reads the statements of their workspaces"
  on public.bill_statements for select to authenticated
  using (workspace_id in (select private.member_workspaces()));

create policy "A key that may read all spend reads statements"
  on public.bill_statements for select to outlay_key
  using (
    workspace_id = (select private.key_workspace())
    and (select private.key_environment()) = 'live' and (select private.key_is_unconfined())
  );

-- What a statement bills, by its coordinates: one row for each combination of line, model, unit, tier, key and person.
create table public.billed_facts (
  workspace_id uuid not null,
  statement_id uuid not null,
  line text check (char_length(line) between 1 and 300),
  model text check (char_length(model) between 1 and 200),
  -- The unit of `quantity`, by its name in the catalogue where it has one.
  unit text check (char_length(unit) between 1 and 64),
  tier text check (char_length(tier) between 1 and 64),
  key_name text check (char_length(key_name) between 1 and 200),
  amount_usd numeric not null check (scale(amount_usd) <= 18),
  -- Before discounts; null where the bill does not say.
  list_usd numeric check (scale(list_usd) <= 18),
  quantity numeric,
  -- The person whom the bill names: an e-mail address in lower case, or another name.
  end_user text check (char_length(end_user) between 1 and 255),
  constraint billed_facts_key unique nulls not distinct (workspace_id, statement_id, line, model, unit, tier, key_name, end_user),
  constraint billed_facts_statement_key
    foreign key (workspace_id, statement_id) references public.bill_statements (workspace_id, id) on delete cascade
);

alter table public.billed_facts enable row level security;
revoke all on public.billed_facts from anon, authenticated, service_role;
grant select on public.billed_facts to authenticated, outlay_key, service_role;

create policy "A member reads the billed facts of their workspaces"
  on public.billed_facts for select to authenticated
  using (workspace_id in (select private.member_workspaces()));

create policy "A key that may read all spend reads billed facts"
  on public.billed_facts for select to outlay_key
  using (
    workspace_id = (select private.key_workspace())
    and (select private.key_environment()) = 'live' and (select private.key_is_unconfined())
  );

-- Adds a bill with its statements, as an admin of the workspace: the user of the transaction's claims.
-- bill: { name, format, sha256, row_count, left_out_count, left_out_usd, statements: [{ id, provider, account, starts_on, ends_on,
-- amount_usd }], facts: [{ statement_id, line, model, unit, tier, key_name, end_user, amount_usd, list_usd, quantity }] }
-- returns: its id; null where the same content is there already
create function private.add_bill(workspace uuid, bill jsonb)
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
grant execute on function private.add_bill(uuid, jsonb) to outlay_service, service_role;

-- Deletes a bill with its statements, as an admin of the workspace: the user of the transaction's claims. Accounts of its providers are
-- pulled again from their first day, because days were left to the bill. A bill that is pulled goes with its account alone.
-- returns: whether there was one
create function private.delete_bill(workspace uuid, bill uuid)
returns boolean
language plpgsql volatile security definer set search_path = ''
as $$
begin
  if workspace not in (select private.member_workspaces(array['owner', 'admin'])) then
    raise exception 'only an admin deletes a bill' using errcode = 'insufficient_privilege';
  end if;
  perform private.lock_bills(workspace);
  update public.provider_accounts as p
  -- A pull that runs loses its lease, and ends.
  set next_day = p.since, next_pull_at = now(), lease = null, leased_until = null
  where p.workspace_id = workspace and exists (
    select from public.bill_statements as s
    where s.workspace_id = workspace and s.bill_id = bill and s.provider = p.provider
  );
  delete from public.bills where workspace_id = workspace and id = bill and provider_account_id is null;
  return found;
end
$$;
grant execute on function private.delete_bill(uuid, uuid) to outlay_service, service_role;

-- The rules about bills that are judged: those that are on in a workspace with a bill since a day, and those whose state is to end.
-- returns: [{ workspace_id, time_zone, rule, parameter, period }]; `parameter`: null where the rule is off; `period`: of the present
-- state, or null
create function private.bill_rules_to_judge(first_day date)
returns jsonb
language sql stable security definer set search_path = ''
as $$
  select coalesce(jsonb_agg(jsonb_build_object(
    'workspace_id', w.id, 'time_zone', w.time_zone, 'rule', r.rule, 'parameter', setting.parameter, 'period', s.period
  ) order by w.id, r.rule), '[]')
  from public.workspaces as w
  cross join (values ('bill_coverage'), ('bill_difference')) as r (rule)
  cross join lateral (select private.alert_rule_parameter(w.id, r.rule) as parameter) as setting
  left join public.alert_states as s on s.workspace_id = w.id and s.rule = r.rule and s.subject_id = w.id::text
  where w.deleted_at is null and (s.period is not null or setting.parameter is not null and exists (
    select from public.bill_statements as b where b.workspace_id = w.id and b.starts_on >= first_day
  ))
$$;
grant execute on function private.bill_rules_to_judge(date) to outlay_service, service_role;
