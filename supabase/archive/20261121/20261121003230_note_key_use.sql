-- Notes that keys were used, at most once a minute each over all processes. Locked in id order, as the guard locks them:
-- neither ever waits for the other in a ring. A statement by itself, so that the locks are gone at once.
create function private.note_key_use(key_ids uuid[])
returns void
language sql volatile security definer set search_path = '' set lock_timeout = '1s'
as $$
  with due as materialized (
    select id from public.api_keys
    where id = any (key_ids)
      and (last_used_at is null or last_used_at < clock_timestamp() - interval '1 minute')
    order by id
    for no key update
  )
  update public.api_keys as k set last_used_at = clock_timestamp() from due where k.id = due.id
$$;
revoke all on function private.note_key_use(uuid[]) from public;
grant execute on function private.note_key_use(uuid[]) to outlay_service, service_role;
