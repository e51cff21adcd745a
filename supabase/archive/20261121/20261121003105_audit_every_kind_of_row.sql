-- The audit of rows that are not told by workspace_id and id alone: a workspace is its own, a member is told by their user
-- and named by their e-mail address, which outlives the membership. What goes with its whole workspace leaves no line.
create or replace function private.audit_change()
returns trigger
language plpgsql security definer set search_path = ''
as $$
declare
  before jsonb := case when tg_op <> 'INSERT' then to_jsonb(old) end;
  after jsonb := case when tg_op <> 'DELETE' then to_jsonb(new) end;
  changed jsonb := coalesce(after, before);
  workspace uuid := (coalesce(changed ->> 'workspace_id', changed ->> 'id'))::uuid;
  member jsonb;
begin
  if tg_table_name = 'workspace_members' then
    member := jsonb_build_object('email', (select p.email from public.profiles as p where p.id = (changed ->> 'user_id')::uuid));
    before := before || member;
    after := after || member;
  end if;
  insert into public.audit_log (workspace_id, actor_id, actor_email, action, subject, before, after, address)
  select
    workspace, auth.uid(), auth.email(),
    tg_argv[0] || case tg_op when 'INSERT' then '.created' when 'UPDATE' then '.changed' else '.deleted' end,
    tg_argv[0] || ' ' || coalesce(changed ->> 'id', changed ->> 'user_id', ''),
    before, after, nullif(current_setting('request.address', true), '')
  where exists (select from public.workspaces as w where w.id = workspace);
  return null;
end
$$;
