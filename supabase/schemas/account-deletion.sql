-- The deletion of accounts, which can be undone for thirty days.

-- Whether the signed-in user's account was not deleted.
create function private.account_is_kept()
returns boolean
language sql stable security definer set search_path = ''
as $$
  select not exists (select from public.profiles where id = auth.uid() and deleted_at is not null)
$$;

-- Deletes the signed-in user's account. The session must have proved who they are within the last hour.
-- returns: { blocked: [{ slug, name }] }: workspaces with other members that would be without an owner, and nothing was done; or
--   { deleted_at, erased_at: ms }
create function private.delete_account()
returns jsonb
language plpgsql volatile security definer set search_path = ''
as $$
declare
  own public.profiles;
  at timestamptz;
  blocked jsonb;
  alone uuid;
begin
  if not private.signed_in_recently() or not private.session_is_complete() then
    raise exception 'only a session that signed in within the last hour may delete an account'
      using errcode = 'insufficient_privilege';
  end if;
  -- Before the account, as changes of members do. What another owner changes meanwhile is seen.
  perform from public.workspaces as w
  where w.id in (select m.workspace_id from public.workspace_members as m where m.user_id = auth.uid())
  order by w.id
  for no key update;
  select * into own from public.profiles where id = auth.uid() and deleted_at is null for update;
  if not found then
    raise exception 'the account is deleted already' using errcode = 'insufficient_privilege';
  end if;

  select jsonb_agg(jsonb_build_object('slug', w.slug, 'name', w.name) order by w.name) into blocked
  from public.workspace_members as m
  join public.workspaces as w on w.id = m.workspace_id
  where m.user_id = own.id and m.role = 'owner' and w.deleted_at is null
    and exists (
      select from public.workspace_members as o join public.profiles as p on p.id = o.user_id
      where o.workspace_id = w.id and o.user_id <> own.id and p.deleted_at is null
    )
    and not exists (
      select from public.workspace_members as o join public.profiles as p on p.id = o.user_id
      where o.workspace_id = w.id and o.user_id <> own.id and p.deleted_at is null and o.role = 'owner'
    );
  if blocked is not null then
    return jsonb_build_object('blocked', blocked);
  end if;

  at := clock_timestamp();
  for alone in
    select w.id
    from public.workspace_members as m
    join public.workspaces as w on w.id = m.workspace_id
    where m.user_id = own.id and w.deleted_at is null and w.type <> 'demo'
      and not exists (
        select from public.workspace_members as o join public.profiles as p on p.id = o.user_id
        where o.workspace_id = w.id and o.user_id <> own.id and p.deleted_at is null
      )
    order by w.id
  loop
    perform pg_advisory_xact_lock(hashtextextended('outlay.prices.' || alone, 0));
    update public.workspaces
    set deleted_at = at, deleted_by = own.id, prices_version = prices_version - private.deletion_mark()
    where id = alone;
    delete from private.oauth_authorizations where workspace_id = alone;
  end loop;
  perform private.audit_account(own.id, own.email, 'account.deleted', nullif(current_setting('request.address', true), ''));
  delete from private.oauth_authorizations where user_id = own.id;
  delete from public.connections where user_id = own.id;
  update public.profiles set deleted_at = at where id = own.id;
  insert into public.deliveries (kind, recipient, details)
  values ('account_deleted', own.email, jsonb_build_object(
    'erased_at', floor(extract(epoch from at + private.days_to_undo()) * 1000)::bigint
  ));
  return jsonb_build_object(
    'deleted_at', floor(extract(epoch from at) * 1000)::bigint,
    'erased_at', floor(extract(epoch from at + private.days_to_undo()) * 1000)::bigint
  );
end
$$;
grant execute on function private.delete_account() to outlay_service, service_role;

-- Undoes the deletion of the signed-in user's account, and of the workspaces that were deleted with it. The session must have
-- proved who they are after the deletion, with their second factor if they have one.
-- returns: whether it did
create function private.restore_account()
returns boolean
language plpgsql volatile security definer set search_path = ''
as $$
declare
  own public.profiles;
begin
  select * into own from public.profiles
  where id = auth.uid() and deleted_at > clock_timestamp() - private.days_to_undo()
  for update;
  if not found or not private.session_is_complete() or not exists (
    select from jsonb_array_elements(
      case when jsonb_typeof(auth.jwt() -> 'amr') = 'array' then auth.jwt() -> 'amr' else '[]' end
    ) as proof
    where jsonb_typeof(proof -> 'timestamp') = 'number'
      and (proof ->> 'timestamp')::numeric > floor(extract(epoch from own.deleted_at))
  ) then
    return false;
  end if;
  update public.profiles set deleted_at = null where id = own.id;
  update public.workspaces
  set deleted_at = null, deleted_by = null, prices_version = prices_version + private.deletion_mark()
  where deleted_by = own.id and deleted_at = own.deleted_at;
  perform private.audit_account(own.id, own.email, 'account.restored', nullif(current_setting('request.address', true), ''));
  insert into public.deliveries (kind, recipient, details) values ('account_restored', own.email, '{"erased_at": null}');
  return true;
end
$$;
grant execute on function private.restore_account() to outlay_service, service_role;

-- What the service keeps of the signed-in user, apart from what they recorded: their profile, how they sign in, sessions,
-- memberships, connections, and what they did, the newest first.
create function private.export_account(at_most integer)
returns jsonb
language sql stable security definer set search_path = ''
as $$
  select jsonb_build_object(
    'profile', to_jsonb(p) - 'deleted_at',
    'identities', (
      select coalesce(jsonb_agg(jsonb_build_object('provider', i.provider, 'email', i.email, 'created_at', i.created_at) order by i.created_at), '[]')
      from auth.identities as i where i.user_id = p.id
    ),
    'second_factors', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'type', f.factor_type, 'name', f.friendly_name, 'status', f.status, 'created_at', f.created_at
      ) order by f.created_at), '[]')
      from auth.mfa_factors as f where f.user_id = p.id
    ),
    'sessions', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'id', s.id, 'created_at', s.created_at, 'refreshed_at', s.refreshed_at, 'user_agent', s.user_agent, 'address', s.ip
      ) order by s.created_at), '[]')
      from auth.sessions as s where s.user_id = p.id
    ),
    'memberships', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'workspace_id', w.id, 'slug', w.slug, 'name', w.name, 'role', m.role, 'joined_at', m.created_at, 'deleted_at', w.deleted_at
      ) order by m.created_at), '[]')
      from public.workspace_members as m join public.workspaces as w on w.id = m.workspace_id where m.user_id = p.id
    ),
    'connections', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'id', c.id, 'workspace_id', c.workspace_id, 'client', c.client_name, 'uri', c.client_uri, 'created_at', c.created_at
      ) order by c.created_at), '[]')
      from public.connections as c where c.user_id = p.id
    ),
    'slack_users', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'id', l.id, 'workspace_id', l.workspace_id, 'team', l.slack_team, 'user', l.slack_user, 'name', l.slack_name, 'created_at', l.created_at
      ) order by l.created_at), '[]')
      from public.slack_links as l where l.user_id = p.id
    ),
    'audit', (
      select coalesce(jsonb_agg(to_jsonb(e) order by e.at desc), '[]')
      from (
        select a.* from public.workspace_members as m
        join public.audit_log as a on a.workspace_id = m.workspace_id and a.actor_id = p.id
        where m.user_id = p.id
        order by a.at desc
        limit at_most
      ) as e
    )
  )
  from public.profiles as p
  where p.id = auth.uid() and private.session_is_complete() and private.account_is_kept()
$$;
grant execute on function private.export_account(integer) to outlay_service, service_role;

-- Erases one account whose deletion can no longer be undone. It is one transaction: if it is interrupted, nothing has changed.
-- returns: null where none is due; else { user_id, identity: whether the identity could be deleted, too }
create function private.erase_account_step()
returns jsonb
language plpgsql volatile security definer set search_path = ''
as $$
declare
  gone public.profiles;
  pseudonym text := 'deleted-' || left(replace(gen_random_uuid()::text, '-', ''), 12);
  -- The address where it stands by itself, and not as a part of a longer one.
  named text;
  is_deleted boolean := true;
begin
  select * into gone from public.profiles
  where deleted_at <= clock_timestamp() - private.days_to_undo()
  order by deleted_at
  limit 1
  for update skip locked;
  if not found then
    return null;
  end if;
  named := '(?<![[:alnum:]._%+-])' || regexp_replace(gone.email, '([^[:alnum:]@])', '\\\1', 'g') || '(?![[:alnum:].-])';

  -- The key under which they recorded by hand has their name.
  update public.api_keys set name = pseudonym, revoked_at = coalesce(revoked_at, now())
  where created_by = gone.id and kind = 'member';
  update public.repricings set requested_by_email = pseudonym where requested_by = gone.id;
  update public.closed_months set closed_by_email = pseudonym where closed_by = gone.id;
  update public.closed_months set reopened_by_email = pseudonym where reopened_by = gone.id;
  delete from public.invitations where email = lower(gone.email);
  delete from public.deliveries where recipient = gone.email;
  update private.channel_secrets as s set address = regexp_replace(s.address, named, pseudonym, 'g')
  from public.alert_channels as c
  where c.workspace_id = s.workspace_id and c.id = s.channel_id and c.kind = 'email' and position(gone.email in s.address) > 0;
  update public.alert_channels set target = regexp_replace(target, named, pseudonym, 'g')
  where kind = 'email' and position(gone.email in target) > 0;

  begin
    delete from auth.users where id = gone.id;
  exception when insufficient_privilege then
    is_deleted := false;
  end;
  delete from public.profiles where id = gone.id;

  -- After what was changed above, which the log tells of.
  update public.audit_log
  set actor_email = case when actor_id = gone.id then pseudonym else actor_email end,
    before = regexp_replace(before::text, named, pseudonym, 'g')::jsonb,
    after = regexp_replace(after::text, named, pseudonym, 'g')::jsonb
  where actor_id = gone.id or position(gone.email in before::text) > 0 or position(gone.email in after::text) > 0;
  return jsonb_build_object('user_id', gone.id, 'identity', is_deleted);
end
$$;
grant execute on function private.erase_account_step() to outlay_service, service_role;
