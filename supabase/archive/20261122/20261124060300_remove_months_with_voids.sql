-- Removes every message of a month that is over, of all workspaces, and remembers what they came to: all of it or nothing.
-- The partition stays, empty, so that recording never misses it. Only the owner of the schema may run this.
--
-- Whoever writes to this one month waits while its postings are summed; readers wait only while the partition is emptied.
-- Raises lock_not_available (55P03) where others hold the month too long; nothing has happened then.
create or replace function private.remove_messages_month(first_day date)
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
  execute format('lock table only private.%I in share row exclusive mode', partition_name);
  execute format(
    $statement$
      with gone as materialized (
        select workspace_id, environment, api_key_id, date_trunc('month', coalesce(counted_at, created_at))::date as recorded_in,
          sum(amount_usd) as amount_usd,
          coalesce(sum(private.sign_of(voids)) filter (where part = 0), 0) as message_count,
          sum(private.sign_of(voids)) as item_count,
          coalesce(sum(private.sign_of(voids)) filter (where cost_status = 'unpriced'), 0) as unpriced_count,
          coalesce(sum(list_price_usd), 0) as included_usd
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
        (workspace_id, month, environment, amount_usd, message_count, item_count, unpriced_count, included_usd, removed_at)
      select workspace_id, $1, environment, sum(amount_usd), sum(message_count), sum(item_count), sum(unpriced_count),
        sum(included_usd), clock_timestamp()
      from gone
      group by 1, 3
      on conflict (month, workspace_id, environment) do update
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
