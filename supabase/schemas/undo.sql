-- Deletions, and actions on many costs, that people can undo for ten minutes.

-- Deleted rows, with the rows that belonged to them, that people can restore for ten minutes. They are kept in a table of their
-- own, so that other code need not exclude them. The secrets of a channel and the hash of an invitation are in it, as they are
-- in other tables of this schema.
create table private.deleted_things (
  workspace_id uuid not null references public.workspaces (id) on delete cascade,
  kind text not null check (kind in ('budget', 'saved_view', 'alert_channel', 'invitation', 'bulk_action')),
  id uuid not null,
  content jsonb not null,
  deleted_at timestamptz not null default now(),
  primary key (workspace_id, kind, id)
);

create index deleted_things_deleted_at_idx on private.deleted_things (deleted_at);

alter table private.deleted_things enable row level security;
revoke all on private.deleted_things from anon, authenticated, service_role;

-- Keeps a row that the service deletes next, in the same transaction. The service decides whether the caller may delete it. An
-- undo inserts `rows` again, by the names of their tables; the other arguments depend on the kind.
create function private.keep_deleted(kind text, workspace uuid, thing uuid)
returns void
language plpgsql
security definer
set search_path = ''
as $function$
declare
  kept jsonb;
begin
  if keep_deleted.kind = 'budget' then
    -- What is being recorded meanwhile is counted first, or finds no budget.
    perform pg_advisory_xact_lock(hashtextextended('outlay.prices.' || workspace, 0));
  end if;
  kept := case keep_deleted.kind
    when 'budget' then (
      select jsonb_build_object('rows', jsonb_build_object('public.budgets', to_jsonb(b)), 'spend', coalesce((
        select jsonb_agg(to_jsonb(s)) from public.budget_spend as s where s.workspace_id = workspace and s.budget_id = thing
      ), '[]'), 'limits', coalesce((
        select jsonb_agg(to_jsonb(l) || jsonb_build_object('lease', null, 'leased_until', null, 'next_at', now(), 'writes', true))
        from public.provider_limits as l
        where l.workspace_id = workspace and l.budget_id = thing and not l.is_removing
      ), '[]'))
      from public.budgets as b where b.workspace_id = workspace and b.id = thing
    )
    when 'saved_view' then (
      select jsonb_build_object('rows', jsonb_build_object('public.saved_views', to_jsonb(v)))
      from public.saved_views as v where v.workspace_id = workspace and v.id = thing
    )
    when 'alert_channel' then (
      select jsonb_build_object(
        'rows', jsonb_build_object('public.alert_channels', to_jsonb(c), 'private.channel_secrets', to_jsonb(s)),
        'waiting', coalesce((
          select jsonb_object_agg(d.id, d.state) from public.deliveries as d
          where d.channel_id = thing and d.workspace_id = workspace and d.lease is null
            and (d.state = 'pending' or d.state = 'collected' and d.digest_id is null)
        ), '{}')
      )
      from public.alert_channels as c
      join private.channel_secrets as s on s.workspace_id = c.workspace_id and s.channel_id = c.id
      where c.workspace_id = workspace and c.id = thing
    )
    when 'invitation' then (
      select jsonb_build_object('rows', jsonb_build_object('public.invitations', to_jsonb(i), 'private.invitation_secrets', to_jsonb(s)))
      from public.invitations as i
      join private.invitation_secrets as s on s.invitation_id = i.id
      where i.workspace_id = workspace and i.id = thing and i.accepted_at is null
    )
  end;
  if kept is null then
    return;
  end if;
  insert into private.deleted_things (workspace_id, kind, id, content)
  values (workspace, keep_deleted.kind, thing, kept)
  on conflict on constraint deleted_things_pkey do update set content = excluded.content, deleted_at = excluded.deleted_at;
end
$function$;
grant execute on function private.keep_deleted(text, uuid, uuid) to outlay_service, service_role;

-- What was kept of something that can still be undone, locked until the transaction ends; null where it is too late, or there is
-- nothing. The caller decides whether the user may undo it.
create function private.kept_for_undo(kind text, workspace uuid, thing uuid)
returns jsonb
language sql volatile security definer set search_path = ''
as $$
  select d.content from private.deleted_things as d
  where d.workspace_id = workspace and d.kind = kept_for_undo.kind and d.id = thing
    and d.deleted_at >= clock_timestamp() - interval '10 minutes'
  for update
$$;

-- Counts the spend of a restored budget. Past periods are restored as they were; the present one is counted again, because
-- messages may have been recorded since the deletion.
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

-- Whether the transaction's user may restore something. An admin may restore everything except others' private views; whoever
-- saved a view may restore it while they may still save such a view.
-- saved_view: the row, where it is one
create function private.may_restore(workspace uuid, saved_view jsonb)
returns boolean
language sql
stable security definer
set search_path = ''
as $function$
  select workspace in (
    select private.member_workspaces(case
      when saved_view is null or is_shared and not is_own then array['owner', 'admin']
      when is_shared then array['owner', 'admin', 'member']
      when is_own then array['owner', 'admin', 'member', 'viewer']
      else '{}'
    end)
  )
  from (
    select (saved_view ->> 'is_shared')::boolean as is_shared, (saved_view ->> 'created_by')::uuid is not distinct from auth.uid() as is_own
  ) as view
$function$;

-- Restores something that was deleted at most ten minutes ago, with its id and everything that belonged to it.
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
  kept constant jsonb := private.kept_for_undo(kind, workspace, thing);
  part record;
  restored public.budgets;
begin
  if kept is null or not private.may_restore(workspace, kept #> '{rows,public.saved_views}') then
    return 'unknown';
  end if;
  if restore_deleted.kind = 'budget' then
    perform pg_advisory_xact_lock(hashtextextended('outlay.prices.' || workspace, 0));
    -- Later it would be added to the restored budget, too, which counts it now.
    perform private.count_waiting_spend(workspace);
  end if;
  -- Locks the workspace, so that two that are added at once are both counted.
  perform from public.workspaces where id = workspace and at_most is not null for no key update;
  if at_most <= (case restore_deleted.kind
    when 'saved_view' then (
      select count(*) from public.saved_views as v
      where v.workspace_id = workspace and v.created_by = (kept #>> '{rows,public.saved_views,created_by}')::uuid
    )
    when 'alert_channel' then (select count(*) from public.alert_channels as c where c.workspace_id = workspace)
  end) then
    return 'full';
  end if;
  -- The tables in `public` first, which those in `private` refer to. Postgres computes generated columns again.
  perform set_config('outlay.is_restoring', 'on', true);
  for part in select key::regclass as target, value as content from jsonb_each(kept -> 'rows') order by key desc loop
    execute (
      select format(
        'insert into %1$s (%2$s) select %2$s from jsonb_populate_record(null::%1$s, $1)',
        part.target, string_agg(quote_ident(a.attname), ', ' order by a.attnum)
      )
      from pg_catalog.pg_attribute as a
      where a.attrelid = part.target and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
    ) using part.content;
  end loop;
  perform set_config('outlay.is_restoring', '', true);
  if restore_deleted.kind = 'budget' then
    select * into restored from public.budgets as b where b.workspace_id = workspace and b.id = thing;
    perform private.count_restored_budget(restored, kept -> 'spend');
    -- Those that are being removed at the provider are written again. A limit of another budget, and a removed account, win.
    insert into public.provider_limits as present
    select l.* from jsonb_populate_recordset(null::public.provider_limits, kept -> 'limits') as l
    where exists (select from public.provider_accounts as a where a.workspace_id = workspace and a.id = l.account_id)
      and not exists (
        select from public.provider_limits as other
        where other.workspace_id = workspace and other.account_id = l.account_id and other.kind = l.kind
          and other.target = l.target and other.period = l.period and other.id <> l.id
      )
    on conflict on constraint provider_limits_pkey do update
    set budget_id = excluded.budget_id, is_removing = false, writes = true, next_at = now(), attempts = 0, problem = null,
      revision = present.revision + 1;
  end if;
  update public.deliveries as d set state = kept #>> array['waiting', d.id::text]
  where restore_deleted.kind = 'alert_channel' and d.workspace_id = workspace and d.channel_id = thing
    and d.state = 'cancelled' and kept -> 'waiting' ? d.id::text;
  delete from private.deleted_things as d
  where d.workspace_id = workspace and d.kind = restore_deleted.kind and d.id = thing;
  return 'restored';
end
$function$;
grant execute on function private.restore_deleted(text, uuid, uuid, integer) to outlay_service, service_role;
