-- Prices are set by the workspace's admins, as themselves: the guard asks first, the policy asks again.
grant insert, update on public.prices to authenticated;
grant insert on public.repricings to authenticated;

create policy "An admin sets the prices of their workspaces"
  on public.prices for insert to authenticated
  with check (workspace_id in (select private.member_workspaces(array['owner', 'admin'])));

create policy "An admin changes the prices of their workspaces"
  on public.prices for update to authenticated
  using (workspace_id in (select private.member_workspaces(array['owner', 'admin'])))
  with check (workspace_id in (select private.member_workspaces(array['owner', 'admin'])));

create policy "An admin asks for a correction in their workspaces"
  on public.repricings for insert to authenticated
  with check (
    workspace_id in (select private.member_workspaces(array['owner', 'admin']))
    and requested_by = (select auth.uid())
  );

-- Leaves a line in the audit log for every change of a row, by whoever the transaction's claims name. A trigger, so that
-- no way of changing the row can forget it. The trigger's argument is what the log calls the thing.
create function private.audit_change()
returns trigger
language plpgsql security definer set search_path = ''
as $$
declare
  before jsonb := case when tg_op <> 'INSERT' then to_jsonb(old) end;
  after jsonb := case when tg_op <> 'DELETE' then to_jsonb(new) end;
begin
  insert into public.audit_log (workspace_id, actor_id, actor_email, action, subject, before, after, address)
  values (
    (coalesce(after, before) ->> 'workspace_id')::uuid, auth.uid(), auth.email(),
    tg_argv[0] || case tg_op when 'INSERT' then '.created' when 'UPDATE' then '.changed' else '.deleted' end,
    tg_argv[0] || ' ' || coalesce(coalesce(after, before) ->> 'id', ''),
    before, after, nullif(current_setting('request.address', true), '')
  );
  return null;
end
$$;
revoke all on function private.audit_change() from public;

create trigger prices_are_audited
  after insert or update or delete on public.prices
  for each row execute function private.audit_change('price');

-- What has no price yet is looked up often and is rare.
create index messages_unpriced_idx on public.messages (workspace_id, provider, occurred_at, id) where cost_status = 'unpriced';
