-- Forgets what can no longer be used, so that nobody can fill the tables by asking: answered and unanswered questions,
-- expired tokens, grants that cannot be renewed, and clients that nobody let in. A client that was never asked about goes
-- after a day, another 30 days after it was last asked about: assistants remember the id they registered with.
-- returns: how many rows
create function private.sweep_oauth(at_most integer)
returns integer
language plpgsql volatile security definer set search_path = ''
as $$
declare
  swept integer := 0;
  gone integer;
begin
  delete from private.oauth_authorizations where id in (
    select id from private.oauth_authorizations where expires_at < now() - interval '1 day' limit at_most
  );
  get diagnostics gone = row_count;
  swept := swept + gone;

  delete from private.oauth_access_tokens where hash in (
    select hash from private.oauth_access_tokens where expires_at < now() limit at_most
  );
  get diagnostics gone = row_count;
  swept := swept + gone;

  -- One at a time and skipping what is in use: a token may be refreshed at this very moment.
  delete from private.oauth_grants where id in (
    select g.id from private.oauth_grants as g
    where not exists (select from private.oauth_refresh_tokens as t where t.grant_id = g.id and t.expires_at > now())
      and not exists (select from private.oauth_access_tokens as t where t.grant_id = g.id and t.expires_at > now())
    limit at_most for update skip locked
  );
  get diagnostics gone = row_count;
  swept := swept + gone;

  delete from private.oauth_refresh_tokens where hash in (
    select hash from private.oauth_refresh_tokens where expires_at < now() limit at_most
  );
  get diagnostics gone = row_count;
  swept := swept + gone;

  delete from private.oauth_clients where id in (
    select client.id from private.oauth_clients as client
    where client.created_at < now() - interval '1 day'
      and coalesce(client.last_asked_at, '-infinity') < now() - interval '30 days'
      and not exists (select from public.connections as c where c.client_id = client.id)
    limit at_most for update skip locked
  );
  get diagnostics gone = row_count;
  return swept + gone;
end
$$;
revoke all on function private.sweep_oauth(integer) from public;
grant execute on function private.sweep_oauth(integer) to outlay_service, service_role;
