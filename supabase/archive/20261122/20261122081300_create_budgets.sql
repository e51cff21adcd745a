create table public.budgets (
  workspace_id uuid not null references public.workspaces (id) on delete cascade,
  id uuid not null default gen_random_uuid(),
  name text not null check (char_length(name) between 1 and 120),
  scope_type text not null check (scope_type in ('global', 'project', 'feature', 'provider', 'key')),
  -- The id of the project or key, or the name of the feature or provider; null for the whole workspace.
  scope_value text
    check ((scope_type = 'global') = (scope_value is null))
    constraint budgets_scope_value_is_short check (char_length(scope_value) between 1 and 128),
  -- USD per month. NaN and infinity are not allowed.
  amount numeric not null
    check (amount > 0)
    constraint budgets_amount_is_money check (amount < 1e15 and scale(amount) <= 18),
  created_at timestamptz not null default now(),
  primary key (workspace_id, id)
);

-- The workspace's admins set budgets under their own role: the guard checks first, and the policies check again.
alter table public.budgets enable row level security;
revoke all on public.budgets from anon, authenticated, service_role;
grant select, insert (workspace_id, name, scope_type, scope_value, amount), update (name, amount), delete
  on public.budgets to authenticated;
grant select on public.budgets to outlay_key;
grant all on public.budgets to service_role;

create policy "A member reads the budgets of their workspaces"
  on public.budgets for select to authenticated
  using (workspace_id in (select private.member_workspaces()));

-- A key that is limited to some projects sees their budgets and its own. Wider budgets contain spend that it may not see.
create policy "A key reads the budgets whose whole spend it may read"
  on public.budgets for select to outlay_key
  using (
    workspace_id = (select private.key_workspace())
    and case
      when (select private.key_is_unconfined()) then true
      when scope_type = 'project' then scope_value::uuid in (select private.key_projects())
      when scope_type = 'key' then scope_value = (select private.key_claims() ->> 'id')
      else false
    end
  );

create policy "An admin sets the budgets of their workspaces"
  on public.budgets for insert to authenticated
  with check (workspace_id in (select private.member_workspaces(array['owner', 'admin'])));

create policy "An admin changes the budgets of their workspaces"
  on public.budgets for update to authenticated
  using (workspace_id in (select private.member_workspaces(array['owner', 'admin'])))
  with check (workspace_id in (select private.member_workspaces(array['owner', 'admin'])));

create policy "An admin deletes the budgets of their workspaces"
  on public.budgets for delete to authenticated
  using (workspace_id in (select private.member_workspaces(array['owner', 'admin'])));

-- A budget of a project or key names one of its own workspace by id. Other values would match nothing.
create function private.check_budget_scope()
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
revoke all on function private.check_budget_scope() from public;

create trigger budget_scopes_exist
  before insert or update of workspace_id, scope_type, scope_value on public.budgets
  for each row execute function private.check_budget_scope();

create trigger budgets_are_audited
  after insert or update or delete on public.budgets
  for each row execute function private.audit_change('budget');

-- The number of budgets of a workspace. A key that may not read all of them learns how many are hidden.
create function private.count_budgets(of_workspace uuid)
returns integer
language sql stable security definer set search_path = ''
as $$
  select count(*)::integer from public.budgets where workspace_id = of_workspace
$$;
revoke all on function private.count_budgets(uuid) from public;
grant execute on function private.count_budgets(uuid) to outlay_service, service_role;
