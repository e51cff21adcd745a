-- What users may write by themselves (PostgREST, on a hosted project) is what the service writes for them, and nothing
-- that it could not read again.

-- A price that moves to another workspace would leave the first one's count of changes behind, and with it the old price
-- in every process that remembers it. Who set it and how far a correction has come are not theirs to say.
revoke insert, update on public.prices from authenticated;
grant insert (workspace_id, provider, model, unit_type, rate, starts_at, created_by), update (rate, created_by)
  on public.prices to authenticated;
revoke insert on public.repricings from authenticated;
grant insert (workspace_id, provider, from_at, to_at, includes_priced, requested_by, requested_by_email)
  on public.repricings to authenticated;

alter policy "An admin sets the prices of their workspaces" on public.prices
  with check (
    workspace_id in (select private.member_workspaces(array['owner', 'admin']))
    and created_by = (select auth.uid())
  );
alter policy "An admin changes the prices of their workspaces" on public.prices
  with check (
    workspace_id in (select private.member_workspaces(array['owner', 'admin']))
    and created_by = (select auth.uid())
  );
alter policy "An admin asks for a correction in their workspaces" on public.repricings
  with check (
    workspace_id in (select private.member_workspaces(array['owner', 'admin']))
    and requested_by = (select auth.uid())
    and requested_by_email is not distinct from (select auth.email())
  );

-- Infinity is no moment that an answer could write. A correction may have no end.
alter table public.prices
  add constraint prices_starts_at_is_a_moment
  check (starts_at >= '0001-01-01T00:00:00Z' and starts_at < '10000-01-01T00:00:00Z');
alter table public.repricings
  add constraint repricings_from_at_is_a_moment
  check (from_at >= '0001-01-01T00:00:00Z' and from_at < '10000-01-01T00:00:00Z'),
  add constraint repricings_to_at_is_a_moment
  check (to_at >= '0001-01-01T00:00:00Z' and (to_at < '10000-01-01T00:00:00Z' or to_at = 'infinity'));

-- A project is archived, and a subscription stopped, now, whatever moment the statement names; once is enough.
create function private.date_archiving()
returns trigger
language plpgsql set search_path = ''
as $$
begin
  new.archived_at := coalesce(old.archived_at, now());
  return new;
end
$$;

create function private.date_stop()
returns trigger
language plpgsql set search_path = ''
as $$
begin
  new.stopped_at := coalesce(old.stopped_at, now());
  return new;
end
$$;
revoke all on function private.date_archiving(), private.date_stop() from public;

create trigger archiving_is_dated
  before update of archived_at on public.projects
  for each row when (new.archived_at is not null)
  execute function private.date_archiving();

create trigger stops_are_dated
  before update of stopped_at on public.recurring_subscriptions
  for each row when (new.stopped_at is not null)
  execute function private.date_stop();
