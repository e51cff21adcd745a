-- Checks a budget's time zone only where it is not UTC. Postgres reads the file of every time zone to list their names, which takes
-- longer than all else that storing a budget does.

-- A budget of a project or key names one of its own workspace by id. Other values would match nothing.
create or replace function private.check_budget_scope()
returns trigger
language plpgsql stable security definer set search_path = ''
as $$
begin
  if new.scope_type = 'project' and not exists (
    select from public.projects where workspace_id = new.workspace_id and id::text = new.scope_value
  ) or new.scope_type = 'key' and not exists (
    select from public.api_keys where workspace_id = new.workspace_id and id::text = new.scope_value
  ) then
    raise exception 'the workspace has no % %', new.scope_type, new.scope_value using errcode = 'foreign_key_violation';
  end if;
  return new;
end
$$;

drop trigger budget_scopes_exist on public.budgets;
create trigger budget_scopes_exist before insert or update of workspace_id, scope_type, scope_value
  on public.budgets for each row execute function private.check_budget_scope();

-- A time zone that Postgres does not know would make every message fail.
create function private.check_budget_time_zone()
returns trigger
language plpgsql stable set search_path = ''
as $$
begin
  if not exists (select from pg_catalog.pg_timezone_names where name = new.time_zone) then
    raise exception 'there is no time zone %', new.time_zone using errcode = 'invalid_parameter_value';
  end if;
  return new;
end
$$;
revoke execute on function private.check_budget_time_zone() from public;

create trigger budget_time_zones_exist before insert or update of time_zone
  on public.budgets for each row when (new.time_zone <> 'UTC') execute function private.check_budget_time_zone();
