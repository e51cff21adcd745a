-- Erases accounts thirty days after their deletion. What the user recorded and did stays under an id that belongs to nobody any
-- more, and a pseudonym takes the place of their name and address. The identity is deleted with everything that refers to it.

-- Erases one account whose deletion can no longer be undone. One transaction: nothing of it happened where it is interrupted.
-- returns: null where none is due; else { user_id, identity: whether the identity could be deleted, too }
create function private.erase_account_step()
returns jsonb
language plpgsql volatile security definer set search_path = ''
as $$
declare
  gone public.profiles;
  pseudonym text := 'deleted-' || left(replace(gen_random_uuid()::text, '-', ''), 12);
  -- The address where it stands by itself, and not as a part of a longer one.
  named text;
  is_deleted boolean := true;
begin
  select * into gone from public.profiles
  where deleted_at <= clock_timestamp() - private.days_to_undo()
  order by deleted_at
  limit 1
  for update skip locked;
  if not found then
    return null;
  end if;
  named := '(?<![[:alnum:]._%+-])' || regexp_replace(gone.email, '([^[:alnum:]@])', '\\\1', 'g') || '(?![[:alnum:].-])';

  -- The key under which they recorded by hand has their name.
  update public.api_keys set name = pseudonym, revoked_at = coalesce(revoked_at, now())
  where created_by = gone.id and kind = 'member';
  update public.repricings set requested_by_email = pseudonym where requested_by = gone.id;
  delete from public.invitations where email = lower(gone.email);
  delete from private.notices where recipient = gone.email;
  update private.channel_secrets as s set address = regexp_replace(s.address, named, pseudonym, 'g')
  from public.alert_channels as c
  where c.workspace_id = s.workspace_id and c.id = s.channel_id and c.kind = 'email' and position(gone.email in s.address) > 0;
  update public.alert_channels set target = regexp_replace(target, named, pseudonym, 'g')
  where kind = 'email' and position(gone.email in target) > 0;

  begin
    delete from auth.users where id = gone.id;
  exception when insufficient_privilege then
    is_deleted := false;
  end;
  delete from public.profiles where id = gone.id;

  -- After what was changed above, which the log tells of.
  update public.audit_log
  set actor_email = case when actor_id = gone.id then pseudonym else actor_email end,
    before = regexp_replace(before::text, named, pseudonym, 'g')::jsonb,
    after = regexp_replace(after::text, named, pseudonym, 'g')::jsonb
  where actor_id = gone.id or position(gone.email in before::text) > 0 or position(gone.email in after::text) > 0;
  return jsonb_build_object('user_id', gone.id, 'identity', is_deleted);
end
$$;
revoke all on function private.erase_account_step() from public;
grant execute on function private.erase_account_step() to outlay_service, service_role;
