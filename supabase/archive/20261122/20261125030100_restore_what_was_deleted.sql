-- A restored budget goes on counting where it was, so that what begins to count for a new one is left out.
drop trigger budgets_begin_to_count on public.budgets;
create trigger budgets_begin_to_count before insert on public.budgets for each row
  when (coalesce(current_setting('outlay.is_restoring', true), '') <> 'on') execute function private.begin_budget();
drop trigger budgets_have_a_rate on public.budgets;
create trigger budgets_have_a_rate before insert on public.budgets for each row
  when (coalesce(current_setting('outlay.is_restoring', true), '') <> 'on') execute function private.rate_new_budget();
drop trigger budgets_count_what_is_there on public.budgets;
create trigger budgets_count_what_is_there after insert on public.budgets for each row
  when (coalesce(current_setting('outlay.is_restoring', true), '') <> 'on') execute function private.count_new_budget();

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
      update public.alert_deliveries as d set state = kept #>> array['waiting', d.id::text]
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

revoke execute on function
  private.insert_kept_row(regclass, jsonb),
  private.count_restored_budget(public.budgets, jsonb),
  private.may_restore(text, uuid, jsonb),
  private.restore_deleted(text, uuid, uuid, integer)
from public;
grant execute on function private.restore_deleted(text, uuid, uuid, integer) to outlay_service, service_role;
