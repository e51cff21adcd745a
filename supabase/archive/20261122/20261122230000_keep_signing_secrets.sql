-- Secrets with which gateways sign their webhooks for an API key. A signature (HMAC) cannot be verified with a hash of the
-- secret, so it is kept as it is, where only the functions below reach it. They give nobody but the service the text.
create table private.signing_secrets (
  api_key_id uuid not null references public.api_keys (id) on delete cascade,
  gateway text not null check (gateway in ('helicone')),
  secret text not null check (char_length(secret) between 16 and 256),
  updated_at timestamptz not null default now(),
  primary key (api_key_id, gateway)
);
alter table private.signing_secrets enable row level security;

-- Keeps a secret, in the place of the one before; null removes it.
create function private.keep_signing_secret(key_id uuid, for_gateway text, new_secret text)
returns void
language plpgsql volatile security definer set search_path = ''
as $$
begin
  if new_secret is null then
    delete from private.signing_secrets as kept where kept.api_key_id = key_id and kept.gateway = for_gateway;
    return;
  end if;
  insert into private.signing_secrets (api_key_id, gateway, secret)
  values (key_id, for_gateway, new_secret)
  on conflict (api_key_id, gateway) do update set secret = excluded.secret, updated_at = now();
end
$$;
revoke all on function private.keep_signing_secret(uuid, text, text) from public;
grant execute on function private.keep_signing_secret(uuid, text, text) to outlay_service, service_role;

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
revoke all on function private.find_signing_secret(uuid, text) from public;
grant execute on function private.find_signing_secret(uuid, text) to outlay_service, service_role;
