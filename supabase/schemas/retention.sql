-- The removal of old messages. Their sums stay.

-- The sums of the removed postings of a workspace, by the month in which they occurred (UTC), and by that of the days they were
-- summed on, which are of the workspace's time zone. A message counts once, on its
-- first posting, as in `daily_spend`. A message recorded before `removed_at` may be missing in that month; one recorded later
-- may not.
create table private.removed_messages (
  workspace_id uuid not null,
  month date not null check (extract(day from month) = 1),
  environment text not null,
  amount_usd numeric not null,
  message_count bigint not null,
  item_count bigint not null,
  unpriced_count bigint not null,
  removed_at timestamptz not null,
  included_usd numeric not null default 0,
  month_of_days date not null,
  -- The month comes before the workspace: a month is compared for all workspaces at once.
  primary key (month_of_days, workspace_id, environment, month)
);

create index removed_messages_workspace_idx on private.removed_messages (workspace_id, month);

alter table private.removed_messages enable row level security;
revoke all on private.removed_messages from anon, authenticated, service_role;

-- The sums of removed postings for the key that recorded them, by the month of recording, as in `key_spend`.
create table private.removed_key_spend (
  workspace_id uuid not null,
  api_key_id uuid not null,
  month date not null,
  amount_usd numeric not null,
  message_count bigint not null,
  primary key (workspace_id, api_key_id, month)
);

alter table private.removed_key_spend enable row level security;
revoke all on private.removed_key_spend from anon, authenticated, service_role;

-- Removes every message of a past month, of all workspaces, and stores their sums, in one transaction. The partition stays,
-- empty, so that recording never misses it. Only the owner of the schema may run this.
--
-- Whoever writes to this one month waits while its postings are summed; readers wait only while the partition is emptied.
-- Raises lock_not_available (55P03) where others hold the month too long; nothing has happened then.
create function private.remove_messages_month(first_day date)
 returns void
 language plpgsql
 set search_path to ''
 set "TimeZone" to 'UTC'
 set lock_timeout to '200ms'
as $function$
declare
  partition_name text := 'messages_' || to_char(first_day, 'YYYY_MM');
begin
  if first_day >= date_trunc('month', now())::date then
    raise exception 'the month of % is not over', first_day using errcode = 'invalid_parameter_value';
  end if;
  -- The sums of what is removed would change their days later.
  if exists (select from public.time_zone_changes) then
    raise exception 'the days of a workspace are being summed anew for another time zone' using errcode = 'lock_not_available';
  end if;
  execute format('lock table only private.%I in share row exclusive mode', partition_name);
  execute format(
    $statement$
      with gone as materialized (
        select workspace_id, environment, api_key_id, date_trunc('month', coalesce(counted_at, created_at))::date as recorded_in,
          date_trunc('month', private.local_time(occurred_at, coalesce(w.time_zone, 'UTC')))::date as month_of_days,
          sum(amount_usd) as amount_usd,
          coalesce(sum(private.sign_of(voids)) filter (where part = 0), 0) as message_count,
          sum(private.sign_of(voids)) as item_count,
          coalesce(sum(private.sign_of(voids)) filter (where cost_status = 'unpriced'), 0) as unpriced_count,
          coalesce(sum(list_price_usd), 0) as included_usd
        from private.%I as m
        left join (select id, time_zone from public.workspaces) as w on w.id = m.workspace_id
        group by 1, 2, 3, 4, 5
      ), per_key as (
        insert into private.removed_key_spend as kept (workspace_id, api_key_id, month, amount_usd, message_count)
        select workspace_id, api_key_id, recorded_in, sum(amount_usd), sum(message_count)
        from gone where api_key_id is not null
        group by 1, 2, 3
        on conflict (workspace_id, api_key_id, month) do update
          set amount_usd = kept.amount_usd + excluded.amount_usd,
              message_count = kept.message_count + excluded.message_count
      )
      insert into private.removed_messages as kept
        (workspace_id, month, environment, month_of_days, amount_usd, message_count, item_count, unpriced_count, included_usd, removed_at)
      select workspace_id, $1, environment, month_of_days, sum(amount_usd), sum(message_count), sum(item_count), sum(unpriced_count),
        sum(included_usd), clock_timestamp()
      from gone
      group by 1, 3, 4
      on conflict (month_of_days, workspace_id, environment, month) do update
        set amount_usd = kept.amount_usd + excluded.amount_usd,
            message_count = kept.message_count + excluded.message_count,
            item_count = kept.item_count + excluded.item_count,
            unpriced_count = kept.unpriced_count + excluded.unpriced_count,
            included_usd = kept.included_usd + excluded.included_usd,
            removed_at = excluded.removed_at
    $statement$, partition_name
  ) using first_day;
  -- Readers come and go; each attempt holds up new ones for at most the lock timeout.
  for attempt in 1..20 loop
    begin
      execute format('lock table only private.%I in access exclusive mode', partition_name);
      exit;
    exception when lock_not_available then
      if attempt = 20 then
        raise;
      end if;
    end;
    perform pg_catalog.pg_sleep(0.05);
  end loop;
  execute format('truncate table only private.%I', partition_name);
end
$function$;

-- The first day of a workspace of which no message was removed; null where none were. The caller has checked who asks.
create function private.messages_removed_before(workspace uuid)
returns date
language sql stable security definer set search_path = ''
as $$
  select ((max(month)::timestamp + interval '1 month' - interval '1 microsecond') at time zone 'UTC' at time zone private.time_zone_of(workspace))::date + 1
  from private.removed_messages where workspace_id = workspace
$$;
grant execute on function private.messages_removed_before(uuid) to outlay_service, service_role;

-- Deletes records that are older than so many days: at most so many of each kind. What is still needed stays: an alert of a
-- state that goes on, or of a budget's present period, in which it must not fire again; an alert that is still to be sent; a
-- repricing that is not done. No sum is worked out from these records. What people deleted stays for ten minutes.
-- days: { idempotency, alerts, audit, repricings }, each at least 90. returns: how many of the kind with most
create function private.sweep_old_records(days jsonb, at_most integer)
 returns integer
 language plpgsql
 security definer
 set search_path to ''
as $function$
declare
  now_at constant timestamptz := clock_timestamp();
  most integer;
  changed integer;
begin
  delete from private.deleted_things where ctid = any (array(
    select d.ctid from private.deleted_things as d
    where d.deleted_at < now_at - interval '10 minutes'
    limit at_most for update skip locked
  ));
  get diagnostics most = row_count;

  delete from private.idempotency where ctid = any (array(
    select i.ctid from private.idempotency as i
    where i.created_at < now_at - greatest((days ->> 'idempotency')::integer, 90) * interval '1 day'
    limit at_most for update skip locked
  ));
  get diagnostics changed = row_count;
  most := greatest(most, changed);

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
        select from public.deliveries as d
        where d.workspace_id = a.workspace_id and d.alert_id = a.id and d.state in ('pending', 'collected')
      )
    limit at_most for update skip locked
  ));
  get diagnostics changed = row_count;
  most := greatest(most, changed);

  delete from public.alert_entries where ctid = any (array(
    select e.ctid from public.alert_entries as e
    where e.opened_at < now_at - greatest((days ->> 'alerts')::integer, 90) * interval '1 day'
      and not exists (
        select from public.alerts as a
        where a.workspace_id = e.workspace_id and a.rule = e.rule and a.subject_id = e.subject_id and a.period = e.period
          and a.state <> 'ok'
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
grant execute on function private.sweep_old_records(jsonb, integer) to outlay_service, service_role;
