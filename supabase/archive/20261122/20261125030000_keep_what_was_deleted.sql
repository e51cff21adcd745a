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
        select jsonb_object_agg(d.id, d.state) from public.alert_deliveries as d
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

revoke execute on function private.keep_deleted(text, uuid, uuid), private.sweep_deleted_things(integer) from public;
grant execute on function private.keep_deleted(text, uuid, uuid), private.sweep_deleted_things(integer)
  to outlay_service, service_role;
