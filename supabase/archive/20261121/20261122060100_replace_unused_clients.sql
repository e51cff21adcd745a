-- Anybody may register a client, so the ones that nobody was ever asked about are bounded in number: the newest stay, and
-- the oldest are deleted. A client that a user was asked about is not counted and never deleted here.
create index oauth_clients_unused_idx on private.oauth_clients (created_at desc)
where kind = 'registered' and last_asked_at is null;

-- client: { id, kind: registered, name, uri, redirect_uris }
create function private.register_oauth_client(client jsonb, at_most_unused integer)
returns void
language sql volatile security definer set search_path = ''
as $$
  select private.save_oauth_client(client);
  delete from private.oauth_clients where id in (
    select id from private.oauth_clients
    where kind = 'registered' and last_asked_at is null
    order by created_at desc offset at_most_unused limit 100
    for update skip locked
  )
$$;
revoke all on function private.register_oauth_client(jsonb, integer) from public;
grant execute on function private.register_oauth_client(jsonb, integer) to outlay_service, service_role;
