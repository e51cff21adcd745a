-- A refresh leaves a row that is kept for 60 days, so that a theft shows when the token comes back. A client that refreshes
-- in a loop must not fill the table: a grant is refreshed 120 times an hour, and remembers its 500 latest refresh tokens.
-- A used token that is older than those is refused like any unknown one; it ends nothing any more.

-- Forgets the refresh tokens of a grant before its latest ones.
create function private.forget_older_refresh_tokens(of_grant uuid)
returns void
language sql volatile security definer set search_path = ''
as $$
  delete from private.oauth_refresh_tokens where hash in (
    select hash from private.oauth_refresh_tokens where grant_id = of_grant order by expires_at desc offset 500
  )
$$;
revoke all on function private.forget_older_refresh_tokens(uuid) from public;

-- Exchanges a refresh token for the next pair. Real assistants race on one token, and answers get lost: within 60 seconds
-- of its first use it gives another pair. Later, two hold it who should not, and the grant ends for both.
-- attempt: { token: hex, client_id, resources: [url], access: hex, refresh: hex }
-- returns: { refused: why } or { permissions, resource }; too many are { refused: 'rate', limit, window_ms, wait_ms }
create or replace function private.rotate_refresh_token(attempt jsonb)
returns jsonb
language plpgsql volatile security definer set search_path = ''
as $$
declare
  token private.oauth_refresh_tokens;
  held record;
  excess jsonb;
begin
  -- The grant before its tokens, as whatever ends it takes them: the refreshes of one grant take turns.
  perform from private.oauth_grants where id = (
    select grant_id from private.oauth_refresh_tokens where hash = decode(attempt ->> 'token', 'hex')
  ) for update;
  select * into token from private.oauth_refresh_tokens
  where hash = decode(attempt ->> 'token', 'hex') for update;
  if not found then return jsonb_build_object('refused', 'unknown'); end if;
  select c.client_id, g.resource, k.permissions into held
  from private.oauth_grants as g
  join public.connections as c on c.id = g.connection_id
  join public.api_keys as k on k.workspace_id = c.workspace_id and k.id = c.id
  where g.id = token.grant_id;
  if held.client_id <> attempt ->> 'client_id' then return jsonb_build_object('refused', 'client'); end if;
  if token.used_at < clock_timestamp() - interval '60 seconds' then
    delete from private.oauth_grants where id = token.grant_id;
    return jsonb_build_object('refused', 'reused');
  end if;
  if token.expires_at <= clock_timestamp() then return jsonb_build_object('refused', 'expired'); end if;
  if not attempt -> 'resources' ? held.resource then return jsonb_build_object('refused', 'resource'); end if;

  -- Counted for the grant, which only whoever holds its token can reach: no client can use up another's.
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
