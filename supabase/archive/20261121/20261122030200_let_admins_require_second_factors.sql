-- An admin may require a second factor of everybody in the workspace. Only one whose own session has proved one: nobody
-- locks themselves out.
grant update (require_mfa) on public.workspaces to authenticated;

create function private.guard_required_mfa()
returns trigger
language plpgsql volatile security definer set search_path = ''
as $$
begin
  if auth.uid() is not null and not private.proved_second_factor() then
    raise exception 'only a session that proved a second factor may require one'
      using errcode = 'insufficient_privilege', constraint = 'workspaces_require_mfa_is_proved';
  end if;
  return new;
end
$$;

create trigger required_mfa_is_proved
  before update of require_mfa on public.workspaces
  for each row when (new.require_mfa and not old.require_mfa)
  execute function private.guard_required_mfa();

-- Programs that were let in before act for people who may not have proved anything: they end, and are let in anew by a
-- session that did. API keys belong to the workspace and not to a person: they go on.
create function private.end_connections_of_lesser_sessions()
returns trigger
language plpgsql volatile security definer set search_path = ''
as $$
begin
  delete from private.oauth_authorizations where workspace_id = new.id;
  delete from public.connections where workspace_id = new.id;
  return null;
end
$$;

revoke all on function private.guard_required_mfa(), private.end_connections_of_lesser_sessions() from public;

create trigger required_mfa_ends_connections
  after update of require_mfa on public.workspaces
  for each row when (new.require_mfa and not old.require_mfa)
  execute function private.end_connections_of_lesser_sessions();

drop trigger workspaces_are_audited on public.workspaces;
create trigger workspaces_are_audited
  after update on public.workspaces
  for each row when (
    (old.slug, old.name, old.type, old.description, old.base_currency, old.require_mfa)
    is distinct from (new.slug, new.name, new.type, new.description, new.base_currency, new.require_mfa)
  )
  execute function private.audit_change('workspace');
