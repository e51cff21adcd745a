-- `npm run retention` removes the messages of old months and keeps their sums. What it removed is remembered here, so that
-- `npm run reconcile` still knows what the sums have to be.

-- What the removed postings of a workspace came to, by the month in which they occurred (UTC). A message counts once, on
-- its first posting, as in `daily_spend`. A message recorded before `removed_at` may be missing in that month; one
-- recorded later may not.
create table private.removed_messages (
  workspace_id uuid not null,
  month date not null check (extract(day from month) = 1),
  environment text not null,
  amount_usd numeric not null,
  message_count bigint not null,
  item_count bigint not null,
  unpriced_count bigint not null,
  removed_at timestamptz not null,
  -- The month comes before the workspace: a month is compared for all workspaces at once.
  primary key (month, workspace_id, environment)
);
create index removed_messages_workspace_idx on private.removed_messages (workspace_id, month);

-- What they came to for the key that recorded them, by the month of recording, as in `key_spend`.
create table private.removed_key_spend (
  workspace_id uuid not null,
  api_key_id uuid not null,
  month date not null,
  amount_usd numeric not null,
  message_count bigint not null,
  primary key (workspace_id, api_key_id, month)
);

alter table private.removed_messages enable row level security;
alter table private.removed_key_spend enable row level security;
revoke all on private.removed_messages, private.removed_key_spend
  from public, anon, authenticated, service_role, outlay_service;

-- Removes every message of a month that is over, of all workspaces, and remembers what they came to: all of it or nothing.
-- The partition stays, empty, so that recording never misses it. Only the owner of the schema may run this.
--
-- Whoever writes to this one month waits while its postings are summed; readers wait only while the partition is emptied.
-- Raises lock_not_available (55P03) where others hold the month too long; nothing has happened then.
create function private.remove_messages_month(first_day date)
returns void
language plpgsql volatile set search_path = '' set timezone = 'UTC' set lock_timeout = '200ms'
as $$
declare
  partition_name text := 'messages_' || to_char(first_day, 'YYYY_MM');
begin
  if first_day >= date_trunc('month', now())::date then
    raise exception 'the month of % is not over', first_day using errcode = 'invalid_parameter_value';
  end if;
  execute format('lock table only private.%I in share row exclusive mode', partition_name);
  execute format(
    $statement$
      with gone as materialized (
        select workspace_id, environment, api_key_id, date_trunc('month', created_at)::date as recorded_in,
          sum(amount_usd) as amount_usd,
          count(*) filter (where part = 0) as message_count,
          count(*) as item_count,
          count(*) filter (where cost_status = 'unpriced') as unpriced_count
        from private.%I
        group by 1, 2, 3, 4
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
        (workspace_id, month, environment, amount_usd, message_count, item_count, unpriced_count, removed_at)
      select workspace_id, $1, environment, sum(amount_usd), sum(message_count), sum(item_count), sum(unpriced_count),
        clock_timestamp()
      from gone
      group by 1, 3
      on conflict (month, workspace_id, environment) do update
        set amount_usd = kept.amount_usd + excluded.amount_usd,
            message_count = kept.message_count + excluded.message_count,
            item_count = kept.item_count + excluded.item_count,
            unpriced_count = kept.unpriced_count + excluded.unpriced_count,
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
$$;
revoke all on function private.remove_messages_month(date) from public;

-- The day before which messages of a workspace were removed; null where none were, or the caller may not read it.
create function private.messages_removed_before(workspace uuid)
returns date
language plpgsql stable security definer set search_path = ''
as $$
begin
  if workspace is distinct from private.key_workspace() and workspace not in (select private.member_workspaces()) then
    return null;
  end if;
  return (select (max(month) + interval '1 month')::date from private.removed_messages where workspace_id = workspace);
end
$$;
revoke all on function private.messages_removed_before(uuid) from public;
grant execute on function private.messages_removed_before(uuid) to authenticated, outlay_key;
