-- The service hangs up on a statement that takes too long. What it hung up on must not wait for a lock, holding others,
-- until it gets it: Postgres looks now and then whether its client is still there. Some platforms cannot (before Postgres
-- 14, on Windows); there, the statement's own limit ends it.
do $$
begin
  alter role outlay_service set statement_timeout = '60s';
  alter role outlay_service set client_connection_check_interval = '2s';
exception when others then
  raise notice 'outlay_service keeps its defaults: %', sqlerrm;
end
$$;
