-- Who changed what, when, from where: a line for everything that changes a key, a role, a price, a budget or what
-- messages cost. Written in the transaction of the change; never changed, never deleted.
create table public.audit_log (
  workspace_id uuid not null references public.workspaces (id) on delete cascade,
  id uuid not null default gen_random_uuid(),
  at timestamptz not null default now(),
  -- Null: the service itself.
  actor_id uuid,
  actor_email text,
  action text not null,
  subject text not null,
  before jsonb,
  after jsonb,
  address text,
  primary key (workspace_id, id)
);
create index audit_log_recent_idx on public.audit_log (workspace_id, at desc, id desc);

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
revoke all on function private.write_audit(jsonb) from public;
grant execute on function private.write_audit(jsonb) to outlay_service, service_role;
