-- A connection of a deleted workspace gets no tokens. Each function is as before, but for the condition on `deleted_at`.

create or replace function private.redeem_code(attempt jsonb)
 returns jsonb
 language plpgsql
 security definer
 set search_path = ''
as $$
declare
  allowed private.oauth_authorizations;
  held_role text;
  granted text[];
  new_grant uuid;
begin
  select * into allowed from private.oauth_authorizations
  where code = decode(attempt ->> 'code', 'hex') for update;
  if not found then return jsonb_build_object('refused', 'unknown'); end if;
  if allowed.redeemed_at is not null then
    delete from private.oauth_grants where id = allowed.grant_id;
    return jsonb_build_object('refused', 'replayed');
  end if;
  update private.oauth_authorizations set redeemed_at = clock_timestamp() where id = allowed.id;

  if allowed.expires_at <= clock_timestamp() then return jsonb_build_object('refused', 'expired'); end if;
  if allowed.client_id <> attempt ->> 'client_id' then return jsonb_build_object('refused', 'client'); end if;
  if allowed.code_challenge <> attempt ->> 'code_challenge' then return jsonb_build_object('refused', 'verifier'); end if;
  if allowed.redirect_uri <> attempt ->> 'redirect_uri' then return jsonb_build_object('refused', 'redirect'); end if;
  if allowed.resource <> attempt ->> 'resource' then return jsonb_build_object('refused', 'resource'); end if;

  -- Locked until the end, so that two exchanges for one connection, and a change of role, run one after the other.
  select m.role into held_role
  from public.workspace_members as m
  join public.workspaces as w on w.id = m.workspace_id and w.deleted_at is null
  where m.workspace_id = allowed.workspace_id and m.user_id = allowed.user_id
  for no key update of m;
  granted := array(
    select permission from unnest(allowed.permissions) with ordinality as p (permission, place)
    where permission = any (private.permissions_of_role(held_role)) order by place
  );
  if granted = '{}' then return jsonb_build_object('refused', 'membership'); end if;

  -- The audit log names the user who allowed the connection.
  perform set_config('request.jwt.claims', (
    select jsonb_build_object('sub', id, 'email', email, 'role', 'authenticated')::text
    from public.profiles where id = allowed.user_id
  ), true);
  insert into private.oauth_grants (connection_id, resource)
  values (private.connect(allowed, granted), allowed.resource)
  returning id into new_grant;
  update private.oauth_authorizations set grant_id = new_grant where id = allowed.id;
  perform private.issue_tokens(new_grant, attempt ->> 'access', attempt ->> 'refresh');
  return jsonb_build_object('permissions', granted, 'resource', allowed.resource);
end
$$;

create or replace function private.rotate_refresh_token(attempt jsonb)
 returns jsonb
 language plpgsql
 security definer
 set search_path = ''
as $$
declare
  token private.oauth_refresh_tokens;
  held record;
  excess jsonb;
begin
  -- Locks the grant before its tokens, as functions that end it do, so that the refreshes of a grant run one by one.
  perform from private.oauth_grants where id = (
    select grant_id from private.oauth_refresh_tokens where hash = decode(attempt ->> 'token', 'hex')
  ) for update;
  select * into token from private.oauth_refresh_tokens
  where hash = decode(attempt ->> 'token', 'hex') for update;
  if not found then return jsonb_build_object('refused', 'unknown'); end if;
  select c.client_id, g.resource, k.permissions, w.deleted_at is not null as is_deleted into held
  from private.oauth_grants as g
  join public.connections as c on c.id = g.connection_id
  join public.api_keys as k on k.workspace_id = c.workspace_id and k.id = c.id
  join public.workspaces as w on w.id = c.workspace_id
  where g.id = token.grant_id;
  if held.client_id <> attempt ->> 'client_id' then return jsonb_build_object('refused', 'client'); end if;
  if token.used_at < clock_timestamp() - interval '60 seconds' then
    delete from private.oauth_grants where id = token.grant_id;
    return jsonb_build_object('refused', 'reused');
  end if;
  if token.expires_at <= clock_timestamp() then return jsonb_build_object('refused', 'expired'); end if;
  if not attempt -> 'resources' ? held.resource then return jsonb_build_object('refused', 'resource'); end if;

  -- The token stays as it is: an undo makes it valid again.
  if held.is_deleted then return jsonb_build_object('refused', 'workspace_deleted'); end if;

  -- Counted per grant. Only a holder of its token can reach it, so no client can use up the quota of another.
  excess := private.admit_attempt(jsonb_build_array(jsonb_build_object(
    'subject', encode(sha256(convert_to('token refreshes ' || token.grant_id, 'utf8')), 'hex'),
    'limit', 120,
    'window_ms', 3600000
  )));
  if excess is not null then return jsonb_build_object('refused', 'rate') || excess; end if;

  update private.oauth_refresh_tokens set used_at = clock_timestamp() where hash = token.hash and used_at is null;
  perform private.issue_tokens(token.grant_id, attempt ->> 'access', attempt ->> 'refresh');
  perform private.forget_older_refresh_tokens(token.grant_id);
  return jsonb_build_object('permissions', held.permissions, 'resource', held.resource);
end
$$;
