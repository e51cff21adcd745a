-- The idempotency key that a message was recorded with, for whoever looks at the message. Messages' ids grow with time, so
-- the index is written at its end.
create index idempotency_message_idx on private.idempotency (workspace_id, message_id);

create function private.idempotency_key_of(workspace uuid, message uuid)
returns text
language sql stable security definer set search_path = ''
as $$
  select key from private.idempotency where workspace_id = workspace and message_id = message
$$;
revoke all on function private.idempotency_key_of(uuid, uuid) from public;
grant execute on function private.idempotency_key_of(uuid, uuid) to outlay_service, service_role;
