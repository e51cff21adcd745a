-- Changes by one key are found without looking through those of others.
create index audit_log_key_idx on public.audit_log (workspace_id, actor_key_id, at desc, id desc) where actor_key_id is not null;
