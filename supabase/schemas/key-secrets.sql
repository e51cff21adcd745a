-- The secrets of API keys, and those that gateways sign with.

-- The SHA-256 of each key's secret. One row per key: rotation replaces the hash, so that the commit invalidates the former
-- secret.
create table private.api_key_secrets (
  api_key_id uuid primary key references public.api_keys (id) on delete cascade,
  hash bytea not null unique check (octet_length(hash) = 32)
);

alter table private.api_key_secrets enable row level security;
revoke all on private.api_key_secrets from anon, authenticated, service_role;
grant all on private.api_key_secrets to service_role;

-- Stores a key's first or next secret; the former one becomes invalid with the commit. For the service, in a transaction
-- in which the user has locked the row under their own policies.
create function private.give_key_secret(key_id uuid, secret_hash text, secret_prefix text, secret_last_four text)
returns void
language plpgsql volatile security definer set search_path = ''
as $$
begin
  update public.api_keys
  set prefix = secret_prefix,
      last_four = secret_last_four,
      -- Taken under the row's lock, and later than the last rotation in milliseconds, the precision of responses: of two
      -- rotations, the one with the later time has the valid secret.
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
grant execute on function private.give_key_secret(uuid, text, text, text) to outlay_service, service_role;

-- Secrets with which gateways sign their webhooks for an API key. A signature (HMAC) cannot be verified with a hash of the
-- secret, so it is kept as it is, where only the functions below reach it. Only the service can read the text.
create table private.signing_secrets (
  api_key_id uuid not null references public.api_keys (id) on delete cascade,
  gateway text not null check (gateway in ('helicone')),
  secret text not null check (char_length(secret) between 16 and 256),
  updated_at timestamptz not null default now(),
  primary key (api_key_id, gateway)
);

alter table private.signing_secrets enable row level security;
revoke all on private.signing_secrets from anon, authenticated, service_role;

-- returns: { secret, hash }, with the hash by which requests name the key; null where no secret is kept
create function private.find_signing_secret(key_id uuid, for_gateway text)
returns jsonb
language sql stable security definer set search_path = ''
as $$
  select jsonb_build_object('secret', kept.secret, 'hash', encode(s.hash, 'hex'))
  from private.signing_secrets as kept
  join private.api_key_secrets as s on s.api_key_id = kept.api_key_id
  where kept.api_key_id = key_id and kept.gateway = for_gateway
$$;
grant execute on function private.find_signing_secret(uuid, text) to outlay_service, service_role;
