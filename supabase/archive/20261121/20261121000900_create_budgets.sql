create table public.budgets (
  workspace_id uuid not null references public.workspaces (id) on delete cascade,
  id uuid not null default gen_random_uuid(),
  name text not null check (char_length(name) between 1 and 120),
  scope_type text not null check (scope_type in ('global', 'project', 'feature', 'provider', 'key')),
  -- The id of the project or key, or the name of the feature or provider; null for the whole workspace.
  scope_value text check ((scope_type = 'global') = (scope_value is null)),
  amount numeric not null check (amount > 0),
  created_at timestamptz not null default now(),
  primary key (workspace_id, id)
);

alter table public.budgets enable row level security;
revoke all on public.budgets from anon, authenticated, service_role;
grant select on public.budgets to authenticated, outlay_key;
grant all on public.budgets to service_role;

create policy "A member reads the budgets of their workspaces"
  on public.budgets for select to authenticated
  using (workspace_id in (select private.member_workspaces()));

-- A key confined to some projects sees their budgets and its own. A wider budget holds spend it may not see.
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
