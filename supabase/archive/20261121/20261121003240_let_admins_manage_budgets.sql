-- Budgets are set by the workspace's admins, as themselves: the guard asks first, the policies ask again.

alter table public.budgets
  -- Neither NaN nor infinity.
  add constraint budgets_amount_is_money check (amount < 1e15 and scale(amount) <= 18),
  add constraint budgets_scope_value_is_short check (char_length(scope_value) between 1 and 128);

-- A budget of a project or a key is one of its own workspace, named by id. Nothing else could be read back as one.
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

grant insert (workspace_id, name, scope_type, scope_value, amount), update (name, amount), delete
  on public.budgets to authenticated;

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
