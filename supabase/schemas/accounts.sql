-- What a new account of Supabase Auth gets: a profile and a personal workspace. What its pages remember.

-- Creates a personal workspace whose slug is the local part of the e-mail address: ada@… gets /ada, or /ada-4f1c if that
-- is taken or reserved.
create function private.create_personal_workspace(address text, owner_name text)
returns uuid
language plpgsql volatile security definer set search_path = ''
as $$
declare
  base text := btrim(left(btrim(regexp_replace(lower(split_part(address, '@', 1)), '[^a-z0-9]+', '-', 'g'), '-'), 48), '-');
  wanted text;
  made uuid;
begin
  if base = '' then
    base := 'workspace';
  end if;
  wanted := base;
  for try in 1..20 loop
    begin
      insert into public.workspaces (slug, name, type)
      values (wanted, left(owner_name, 108) || '''s workspace', 'personal')
      on conflict (slug) do nothing
      returning id into made;
    exception when check_violation then
      made := null;
    end;
    exit when made is not null;
    wanted := base || '-' || substr(replace(gen_random_uuid()::text, '-', ''), 1, 4 + try / 4);
  end loop;
  if made is null then
    raise exception 'no free slug was found for %', base;
  end if;
  return made;
end
$$;

-- A user without an e-mail address (signed in by phone, or anonymous) gets a profile when they add one.
create function private.handle_new_user()
returns trigger
language plpgsql volatile security definer set search_path = ''
as $$
declare
  address text := nullif(new.email, '');
  given_name text := left(nullif(btrim(coalesce(
    new.raw_user_meta_data ->> 'display_name', new.raw_user_meta_data ->> 'full_name', new.raw_user_meta_data ->> 'name'
  )), ''), 120);
  picture text := new.raw_user_meta_data ->> 'avatar_url';
  workspace uuid;
begin
  if address is null or exists (select from public.profiles where id = new.id) then
    return new;
  end if;
  workspace := private.create_personal_workspace(address, coalesce(given_name, split_part(address, '@', 1)));
  insert into public.profiles (id, email, display_name, avatar_url, default_workspace_id)
  values (
    new.id, address, given_name,
    -- The user's own claim: accepted only if browsers load it as a picture, and not from this service's own addresses.
    case when picture ~ '^https://' and char_length(picture) <= 2048 then picture end,
    workspace
  );
  insert into public.workspace_members (workspace_id, user_id, role) values (workspace, new.id, 'owner');
  return new;
end
$$;

create function private.handle_changed_email()
returns trigger
language plpgsql volatile security definer set search_path = ''
as $$
begin
  update public.profiles set email = new.email where id = new.id and nullif(new.email, '') is not null;
  return new;
end
$$;

create trigger create_profile_and_workspace
  after insert or update of email on auth.users
  for each row execute function private.handle_new_user();
create trigger follow_changed_email
  after update of email on auth.users
  for each row when (old.email is distinct from new.email)
  execute function private.handle_changed_email();

-- Stores a secret and replaces the one before; null removes it.
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
grant execute on function private.keep_signing_secret(uuid, text, text) to outlay_service, service_role;
