-- Lets the audit log be filtered by what was changed and by whom, in the order of time. The kind and the id of a subject are
-- columns of their own, because row-level security keeps expressions that Postgres does not call leakproof from using an index.
alter table public.audit_log
  add column kind text not null generated always as (split_part(subject, ' ', 1)) stored,
  add column subject_id text generated always as (nullif(split_part(subject, ' ', 2), '')) stored;

create index audit_log_kind_idx on public.audit_log (workspace_id, kind, at desc, id desc);
create index audit_log_action_idx on public.audit_log (workspace_id, action, at desc, id desc);
create index audit_log_subject_idx on public.audit_log (workspace_id, subject_id, at desc, id desc);
create index audit_log_actor_idx on public.audit_log (workspace_id, actor_id, at desc, id desc);
create index audit_log_actor_kind_idx on public.audit_log (workspace_id, actor_id, kind, at desc, id desc);
