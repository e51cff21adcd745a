-- Whoever guesses at tokens may not do so by revoking them either: the service has to know whether there was one.
drop function private.revoke_oauth_token(text, text);

-- Ends what a token stands for (RFC 7009): an access token by itself, a refresh token with all of its grant. A token of
-- another client stays as it is.
-- returns: whether there was such a token
create function private.revoke_oauth_token(token text, for_client text)
returns boolean
language sql volatile security definer set search_path = ''
as $$
  with access as (
    delete from private.oauth_access_tokens as t
    using private.oauth_grants as g, public.connections as c
    where t.hash = decode(token, 'hex') and g.id = t.grant_id and c.id = g.connection_id and c.client_id = for_client
    returning 1
  ), refresh as (
    delete from private.oauth_grants as g
    using private.oauth_refresh_tokens as t, public.connections as c
    where t.hash = decode(token, 'hex') and g.id = t.grant_id and c.id = g.connection_id and c.client_id = for_client
    returning 1
  )
  select exists (select from access) or exists (select from refresh)
$$;
revoke all on function private.revoke_oauth_token(text, text) from public;
grant execute on function private.revoke_oauth_token(text, text) to outlay_service, service_role;
