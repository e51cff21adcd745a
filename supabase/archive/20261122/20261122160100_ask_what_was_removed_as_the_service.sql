-- No role of a user or key may name the schema `private`, so the service asks for them.

-- The day before which messages of a workspace were removed; null where none were. The caller has checked who asks.
create or replace function private.messages_removed_before(workspace uuid)
returns date
language sql stable security definer set search_path = ''
as $$
  select (max(month) + interval '1 month')::date from private.removed_messages where workspace_id = workspace
$$;
revoke all on function private.messages_removed_before(uuid) from authenticated, outlay_key;
grant execute on function private.messages_removed_before(uuid) to outlay_service, service_role;
