-- What people delete, and can have back for ten minutes.

-- What people deleted and can have back for ten minutes: the whole row, and what belonged to it. It is kept apart from what
-- is there, so that nothing else has to know of it. The secrets of a channel and the hash of an invitation are in it, as they
-- are in other tables of this schema.
create table private.deleted_things (
  workspace_id uuid not null references public.workspaces (id) on delete cascade,
  kind text not null check (kind in ('budget', 'saved_view', 'alert_channel', 'invitation')),
  id uuid not null,
  content jsonb not null,
  deleted_at timestamptz not null default now(),
  primary key (workspace_id, kind, id)
);

create index deleted_things_deleted_at_idx on private.deleted_things (deleted_at);

alter table private.deleted_things enable row level security;
revoke all on private.deleted_things from anon, authenticated, service_role;

-- Keeps something that its service deletes next, in the same transaction. Whether the caller may delete it is decided there.
create function private.keep_deleted(kind text, workspace uuid, thing uuid)
returns void
language plpgsql
security definer
set search_path = ''
as $function$
declare
  kept jsonb;
begin
  case keep_deleted.kind
    when 'budget' then
      -- What is being recorded meanwhile is counted first, or finds no budget.
      perform pg_advisory_xact_lock(hashtextextended('outlay.prices.' || workspace, 0));
      select jsonb_build_object('row', to_jsonb(b), 'spend', coalesce((
        select jsonb_agg(to_jsonb(s)) from public.budget_spend as s
        where s.workspace_id = workspace and s.budget_id = thing
      ), '[]'))
      into kept from public.budgets as b where b.workspace_id = workspace and b.id = thing;
    when 'saved_view' then
      select jsonb_build_object('row', to_jsonb(v))
      into kept from public.saved_views as v where v.workspace_id = workspace and v.id = thing;
    when 'alert_channel' then
      select jsonb_build_object('row', to_jsonb(c), 'secrets', (
        select to_jsonb(s) from private.channel_secrets as s where s.workspace_id = workspace and s.channel_id = thing
      ), 'waiting', coalesce((
        select jsonb_object_agg(d.id, d.state) from public.deliveries as d
        where d.channel_id = thing and d.workspace_id = workspace and d.lease is null
          and (d.state = 'pending' or d.state = 'collected' and d.digest_id is null)
      ), '{}'))
      into kept from public.alert_channels as c where c.workspace_id = workspace and c.id = thing;
    when 'invitation' then
      select jsonb_build_object('row', to_jsonb(i), 'secret', (
        select to_jsonb(s) from private.invitation_secrets as s where s.invitation_id = thing
      ))
      into kept from public.invitations as i
      where i.workspace_id = workspace and i.id = thing and i.accepted_at is null;
  end case;
  if kept is null then
    return;
  end if;
  insert into private.deleted_things (workspace_id, kind, id, content)
  values (workspace, keep_deleted.kind, thing, kept)
  on conflict on constraint deleted_things_pkey do update set content = excluded.content, deleted_at = excluded.deleted_at;
end
$function$;
grant execute on function private.keep_deleted(text, uuid, uuid) to outlay_service, service_role;

-- Deletes for good what nobody took back in time.
-- returns: how many
create function private.sweep_deleted_things(at_most integer)
returns integer
language sql
security definer
set search_path = ''
as $function$
  with swept as (
    delete from private.deleted_things as d
    where (d.workspace_id, d.kind, d.id) in (
      select o.workspace_id, o.kind, o.id from private.deleted_things as o
      where o.deleted_at < clock_timestamp() - interval '10 minutes'
      order by o.deleted_at limit at_most
      for update skip locked
    )
    returning 1
  )
  select count(*)::integer from swept
$function$;
grant execute on function private.sweep_deleted_things(integer) to outlay_service, service_role;

-- Inserts a kept row with its former values. Postgres computes generated columns again.
create function private.insert_kept_row(target regclass, kept jsonb)
returns void
language plpgsql
set search_path = ''
as $function$
declare
  columns text := (
    select string_agg(quote_ident(a.attname), ', ' order by a.attnum) from pg_catalog.pg_attribute as a
    where a.attrelid = target and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
  );
begin
  perform set_config('outlay.is_restoring', 'on', true);
  execute format('insert into %1$s (%2$s) select %2$s from jsonb_populate_record(null::%1$s, $1)', target, columns)
  using kept;
  perform set_config('outlay.is_restoring', '', true);
end
$function$;

-- Counts what is spent of a restored budget: its former periods are as they were, and the present one is counted anew, because
-- messages may have been recorded since it was deleted.
create function private.count_restored_budget(restored public.budgets, spend jsonb)
returns void
language plpgsql
security definer
set search_path = ''
as $function$
declare
  present date := private.budget_period(restored, clock_timestamp());
  counted public.budgets := restored;
begin
  -- One that has not begun counts from its first period on.
  if present is null and (clock_timestamp() at time zone restored.time_zone)::date > restored.ends_on then
    present := 'infinity';
  end if;
  insert into public.budget_counts (workspace_id, budget_id, environment, period_from, spent_usd, booked_usd)
  select s.workspace_id, s.budget_id, s.environment, s.period_from, s.spent_usd, s.booked_usd
  from jsonb_populate_recordset(null::public.budget_spend, spend) as s
  where s.period_from < coalesce(present, restored.counted_from);
  if present = 'infinity' then
    return;
  end if;
  counted.counted_from := coalesce(present, restored.counted_from);
  perform private.count_budget(counted);
  perform private.alert_on_budgets(array[restored.workspace_id], array[restored.id]);
end
$function$;

-- Whether the transaction's user may have something back: an admin everything but others' private views, who saved a view
-- their own as long as they may save such a one.
create function private.may_restore(kind text, workspace uuid, kept jsonb)
returns boolean
language sql
stable security definer
set search_path = ''
as $function$
  select workspace in (select private.member_workspaces(case
    when kind <> 'saved_view' then array['owner', 'admin']
    when not (kept ->> 'is_shared')::boolean and (kept ->> 'created_by')::uuid = auth.uid()
      then array['owner', 'admin', 'member', 'viewer']
    when (kept ->> 'is_shared')::boolean and (kept ->> 'created_by')::uuid = auth.uid()
      then array['owner', 'admin', 'member']
    when (kept ->> 'is_shared')::boolean then array['owner', 'admin']
    else '{}'
  end))
$function$;

-- Puts something back that was deleted at most ten minutes ago, with its id and all that belonged to it.
--
-- at_most: how many of its kind the workspace, of a view its maker, may have
-- returns: 'restored', 'unknown' (never there, swept, or not the caller's to restore), or 'full'
create function private.restore_deleted(kind text, workspace uuid, thing uuid, at_most integer)
returns text
language plpgsql
security definer
set search_path = ''
as $function$
declare
  kept jsonb;
  restored public.budgets;
begin
  select d.content into kept from private.deleted_things as d
  where d.workspace_id = workspace and d.kind = restore_deleted.kind and d.id = thing
    and d.deleted_at >= clock_timestamp() - interval '10 minutes'
  for update;
  if kept is null or not private.may_restore(restore_deleted.kind, workspace, kept -> 'row') then
    return 'unknown';
  end if;
  case restore_deleted.kind
    when 'budget' then
      perform pg_advisory_xact_lock(hashtextextended('outlay.prices.' || workspace, 0));
      -- Later it would be added to the restored budget, too, which counts it now.
      perform private.count_waiting_spend(workspace);
      perform private.insert_kept_row('public.budgets', kept -> 'row');
      select * into restored from public.budgets as b where b.workspace_id = workspace and b.id = thing;
      perform private.count_restored_budget(restored, kept -> 'spend');
    when 'saved_view' then
      -- Locks the workspace, so that two that are added at once are both counted.
      perform from public.workspaces where id = workspace for no key update;
      if (
        select count(*) >= at_most from public.saved_views as v
        where v.workspace_id = workspace and v.created_by = (kept #>> '{row,created_by}')::uuid
      ) then
        return 'full';
      end if;
      perform private.insert_kept_row('public.saved_views', kept -> 'row');
    when 'alert_channel' then
      -- Locks the workspace, so that two that are added at once are both counted.
      perform from public.workspaces where id = workspace for no key update;
      if (select count(*) >= at_most from public.alert_channels as c where c.workspace_id = workspace) then
        return 'full';
      end if;
      perform private.insert_kept_row('public.alert_channels', kept -> 'row');
      perform private.insert_kept_row('private.channel_secrets', kept -> 'secrets');
      update public.deliveries as d set state = kept #>> array['waiting', d.id::text]
      where d.workspace_id = workspace and d.channel_id = thing and d.state = 'cancelled'
        and kept -> 'waiting' ? d.id::text;
    when 'invitation' then
      perform private.insert_kept_row('public.invitations', kept -> 'row');
      perform private.insert_kept_row('private.invitation_secrets', kept -> 'secret');
  end case;
  delete from private.deleted_things as d
  where d.workspace_id = workspace and d.kind = restore_deleted.kind and d.id = thing;
  return 'restored';
end
$function$;
grant execute on function private.restore_deleted(text, uuid, uuid, integer) to outlay_service, service_role;
