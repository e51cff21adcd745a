-- The audit log, and the triggers that write it.

-- Adds an entry to the audit log for every change of a row, by the user or the key in the transaction's claims. It is a trigger, so
-- that no statement can change the row without an entry. The trigger's argument is the name of the subject in the log.
--
-- A workspace's row is identified by its id, a member's by the user's id with their e-mail address, which outlives the
-- membership. Rows that are deleted together with their workspace get no entry.
create function private.audit_change()
returns trigger
language plpgsql security definer set search_path = ''
as $$
declare
  before jsonb := case when tg_op <> 'INSERT' then to_jsonb(old) end;
  after jsonb := case when tg_op <> 'DELETE' then to_jsonb(new) end;
  changed jsonb := coalesce(after, before);
  workspace uuid := (coalesce(changed ->> 'workspace_id', changed ->> 'id'))::uuid;
  member jsonb;
  acting_key uuid := (private.key_claims() ->> 'id')::uuid;
begin
  if tg_table_name = 'workspace_members' then
    member := jsonb_build_object('email', (select p.email from public.profiles as p where p.id = (changed ->> 'user_id')::uuid));
    before := before || member;
    after := after || member;
  end if;
  insert into public.audit_log (workspace_id, actor_id, actor_email, actor_key_id, actor_key, action, subject, before, after, address)
  select
    workspace, auth.uid(), auth.email(), acting_key, (select k.name from public.api_keys as k where k.id = acting_key),
    tg_argv[0] || case tg_op when 'INSERT' then '.created' when 'UPDATE' then '.changed' else '.deleted' end,
    tg_argv[0] || ' ' || coalesce(changed ->> 'id', changed ->> 'user_id', ''),
    before, after, nullif(current_setting('request.address', true), '')
  where exists (select from public.workspaces as w where w.id = workspace);
  return null;
end
$$;

create trigger made_workspaces_are_audited
  after insert on public.workspaces
  for each row when (auth.uid() is not null)
  execute function private.audit_change('workspace');

-- Other columns are the service's own counters and are not audited.
create trigger workspaces_are_audited
  after update on public.workspaces
  for each row when (
    (old.slug, old.name, old.type, old.description, old.base_currency, old.require_mfa)
    is distinct from (new.slug, new.name, new.type, new.description, new.base_currency, new.require_mfa)
  )
  execute function private.audit_change('workspace');
create trigger members_are_audited
  after insert or update of role or delete on public.workspace_members
  for each row execute function private.audit_change('member');

-- Records who changed what, when and from where: an entry for everything that changes a key, a role, a price, a budget or
-- the cost of messages. Written in the transaction of the change; never changed, never deleted.
create table public.audit_log (
  workspace_id uuid not null references public.workspaces (id) on delete cascade,
  id uuid not null default gen_random_uuid(),
  at timestamptz not null default now(),
  -- Null: a key or the service.
  actor_id uuid,
  actor_email text,
  action text not null,
  subject text not null,
  before jsonb,
  after jsonb,
  address text,
  kind text not null generated always as (split_part(subject, ' ', 1)) stored,
  subject_id text generated always as (nullif(split_part(subject, ' ', 2), '')) stored,
  -- The key that made the change, and its name at that time.
  actor_key_id uuid,
  actor_key text,
  primary key (workspace_id, id)
);

create index audit_log_recent_idx on public.audit_log (workspace_id, at desc, id desc);
create index audit_log_kind_idx on public.audit_log (workspace_id, kind, at desc, id desc);
create index audit_log_action_idx on public.audit_log (workspace_id, action, at desc, id desc);
create index audit_log_subject_idx on public.audit_log (workspace_id, subject_id, at desc, id desc);
create index audit_log_actor_idx on public.audit_log (workspace_id, actor_id, at desc, id desc);
create index audit_log_actor_kind_idx on public.audit_log (workspace_id, actor_id, kind, at desc, id desc);
create index audit_log_key_idx on public.audit_log (workspace_id, actor_key_id, at desc, id desc) where actor_key_id is not null;
create index audit_log_at_idx on public.audit_log using brin (at);

alter table public.audit_log enable row level security;
revoke all on public.audit_log from anon, authenticated, service_role;
grant select on public.audit_log to authenticated, service_role;

create policy "An admin reads the audit log of their workspaces"
  on public.audit_log for select to authenticated
  using (workspace_id in (select private.member_workspaces(array['owner', 'admin'])));

-- entry: { workspace_id, actor_id, actor_email, action, subject, before, after, address }
create function private.write_audit(entry jsonb)
returns void
language sql volatile security definer set search_path = ''
as $$
  insert into public.audit_log (workspace_id, actor_id, actor_email, action, subject, before, after, address)
  select workspace_id, actor_id, actor_email, action, subject, before, after, address
  from jsonb_to_record(entry) as e (
    workspace_id uuid, actor_id uuid, actor_email text, action text, subject text, before jsonb, after jsonb, address text
  )
$$;
grant execute on function private.write_audit(jsonb) to outlay_service, service_role;

-- Adds an event of an account's second factors to the log of every workspace that the account can reach.
create function private.audit_account(holder uuid, holder_email text, done text, caller_address text)
returns void
language sql volatile security definer set search_path = ''
as $$
  insert into public.audit_log (workspace_id, actor_id, actor_email, action, subject, address)
  select m.workspace_id, holder, holder_email, done, split_part(done, '.', 1) || ' ' || holder, caller_address
  from public.workspace_members as m
  where m.user_id = holder
$$;
grant execute on function private.audit_account(uuid, text, text, text) to outlay_service, service_role;
