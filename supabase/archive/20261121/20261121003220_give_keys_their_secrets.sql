-- Gives a key its secret, or another one: the one before is dead with the commit. For the service, in the transaction in
-- which the key's user has locked the row by their own right.
create function private.give_key_secret(key_id uuid, secret_hash text, secret_prefix text, secret_last_four text)
returns void
language plpgsql volatile security definer set search_path = ''
as $$
begin
  update public.api_keys
  set prefix = secret_prefix,
      last_four = secret_last_four,
      -- The moment is taken under the row's lock, and is later than the last one, in the milliseconds of a response: of
      -- two rotations, the later one's secret is the one that lives.
      rotated_at = case when prefix <> '' then
        greatest(date_trunc('milliseconds', clock_timestamp()), rotated_at + interval '1 millisecond')
      end
  where id = key_id and kind = 'key' and revoked_at is null;
  if not found then
    raise exception 'the key % takes no secret', key_id;
  end if;
  insert into private.api_key_secrets (api_key_id, hash) values (key_id, decode(secret_hash, 'hex'))
  on conflict (api_key_id) do update set hash = excluded.hash;
end
$$;
revoke all on function private.give_key_secret(uuid, text, text, text) from public;
grant execute on function private.give_key_secret(uuid, text, text, text) to outlay_service, service_role;
