-- The ledger has no foreign keys: the rows of a workspace that is deleted stay. Its id is remembered, so that no other
-- workspace gets it and with it those rows.
create table private.deleted_workspaces (
  id uuid primary key,
  deleted_at timestamptz not null default now()
);
alter table private.deleted_workspaces enable row level security;
grant all on private.deleted_workspaces to service_role;

insert into private.deleted_workspaces (id)
select workspace_id from public.daily_spend
union
select workspace_id from public.key_spend
except
select id from public.workspaces;

create function private.remember_deleted_workspace()
returns trigger
language plpgsql volatile security definer set search_path = ''
as $$
begin
  if old.id <> '00000000-0000-4000-8000-0000000000d0' then
    insert into private.deleted_workspaces (id) values (old.id) on conflict do nothing;
    return null;
  end if;
  -- The demo workspace is made again under the same id when it is needed. Its ledger goes with it.
  delete from public.messages where workspace_id = old.id;
  delete from public.daily_spend where workspace_id = old.id;
  delete from public.daily_totals where workspace_id = old.id;
  delete from public.key_spend where workspace_id = old.id;
  delete from private.idempotency where workspace_id = old.id;
  return null;
end
$$;

create function private.refuse_deleted_workspace()
returns trigger
language plpgsql volatile security definer set search_path = ''
as $$
begin
  if exists (select from private.deleted_workspaces where id = new.id) then
    raise exception 'the id % belonged to a workspace that was deleted', new.id
      using errcode = 'check_violation', constraint = 'workspaces_id_is_new',
        hint = 'To restore that workspace, delete its row in private.deleted_workspaces first.';
  end if;
  return new;
end
$$;
revoke all on function private.remember_deleted_workspace(), private.refuse_deleted_workspace() from public;

create trigger deleted_workspaces_are_remembered
  after delete on public.workspaces
  for each row execute function private.remember_deleted_workspace();

create trigger workspace_ids_are_new
  before insert or update of id on public.workspaces
  for each row execute function private.refuse_deleted_workspace();

-- The second lock: should a workspace come to have such an id all the same (triggers are off while a dump is restored),
-- its members and keys read nothing of what was recorded under it.
create function private.reused_workspaces()
returns setof uuid
language sql stable security definer set search_path = ''
as $$
  select deleted.id from private.deleted_workspaces as deleted join public.workspaces using (id)
$$;
revoke all on function private.reused_workspaces() from public;
grant execute on function private.reused_workspaces() to authenticated, outlay_key;

create policy "Nobody reads messages of a workspace that was deleted"
  on public.messages as restrictive for select to authenticated, outlay_key
  using (workspace_id not in (select private.reused_workspaces()));

create policy "Nobody reads the daily spend of a workspace that was deleted"
  on public.daily_spend as restrictive for select to authenticated, outlay_key
  using (workspace_id not in (select private.reused_workspaces()));

create policy "Nobody reads the daily totals of a workspace that was deleted"
  on public.daily_totals as restrictive for select to authenticated, outlay_key
  using (workspace_id not in (select private.reused_workspaces()));

create policy "Nobody reads what the keys of a workspace that was deleted spent"
  on public.key_spend as restrictive for select to authenticated
  using (workspace_id not in (select private.reused_workspaces()));
