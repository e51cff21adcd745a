-- Idempotency keys, alerts, entries of the audit log and finished repricings are removed after the days that the settings give.

-- Rows are added in the order of their time: a small index of the pages' times finds the old ones.
create index idempotency_created_idx on private.idempotency using brin (created_at);
create index alerts_fired_idx on public.alerts using brin (fired_at);
create index audit_log_at_idx on public.audit_log using brin (at);

-- Deletes records that are older than so many days: at most so many of each kind. What is still needed stays: an alert of a
-- state that goes on, or of a budget's present period, in which it must not fire again; an alert that is still to be sent; a
-- repricing that is not done. No sum is worked out from these records.
-- days: { idempotency, alerts, audit, repricings }, each at least 90. returns: how many of the kind with most
create function private.sweep_old_records(days jsonb, at_most integer)
 returns integer
 language plpgsql
 security definer
 set search_path to ''
as $function$
declare
  now_at constant timestamptz := clock_timestamp();
  most integer := 0;
  changed integer;
begin
  delete from private.idempotency where ctid = any (array(
    select i.ctid from private.idempotency as i
    where i.created_at < now_at - greatest((days ->> 'idempotency')::integer, 90) * interval '1 day'
    limit at_most for update skip locked
  ));
  get diagnostics most = row_count;

  delete from public.alerts where ctid = any (array(
    select a.ctid from public.alerts as a
    where a.fired_at < now_at - greatest((days ->> 'alerts')::integer, 90) * interval '1 day'
      and not exists (
        select from public.alert_states as s
        where s.workspace_id = a.workspace_id and s.rule = a.rule and s.subject_id = a.subject_id and s.period = a.period
      )
      and not exists (
        select from public.budgets as b
        where b.workspace_id = a.workspace_id and b.id::text = a.subject_id and private.budget_period(b, now_at) = a.period
      )
      and not exists (
        select from public.alert_deliveries as d
        where d.workspace_id = a.workspace_id and d.alert_id = a.id and d.state in ('pending', 'collected')
      )
    limit at_most for update skip locked
  ));
  get diagnostics changed = row_count;
  most := greatest(most, changed);

  delete from public.audit_log where ctid = any (array(
    select l.ctid from public.audit_log as l
    where l.at < now_at - greatest((days ->> 'audit')::integer, 90) * interval '1 day'
    limit at_most for update skip locked
  ));
  get diagnostics changed = row_count;
  most := greatest(most, changed);

  delete from public.repricings where ctid = any (array(
    select r.ctid from public.repricings as r
    where r.status = 'done' and r.finished_at < now_at - greatest((days ->> 'repricings')::integer, 90) * interval '1 day'
    limit at_most for update skip locked
  ));
  get diagnostics changed = row_count;
  return greatest(most, changed);
end
$function$;
revoke execute on function private.sweep_old_records(jsonb, integer) from public;
grant execute on function private.sweep_old_records(jsonb, integer) to outlay_service, service_role;
