-- Adds to the daily sums: to the rollup, then to its totals, each in the order of its key. Everything that is recorded or
-- corrected uses this function, so that the two always agree. Days before yesterday may be folded: their changes are added to the
-- folded sums, too.
create or replace function private.add_daily_spend(changes public.daily_spend[])
 returns void
 language plpgsql
 set search_path to ''
as $$
begin
  insert into public.daily_spend as daily (
    workspace_id, day, project_id, api_key_id, type, provider, model, feature, source, environment,
    amount_usd, message_count, item_count, unpriced_count, end_user, tags, included_usd
  )
  select
    workspace_id, day, project_id, api_key_id, type, provider, model, feature, source, environment,
    amount_usd, message_count, item_count, unpriced_count, end_user, tags, included_usd
  from unnest(changes)
  order by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 15, 16
  on conflict (
    workspace_id, day, project_id, api_key_id, type, provider, model, feature, source, environment,
    (case when end_user is not null or tags is not null then private.attribution_of(end_user, tags) end)
  ) do update
    set amount_usd = daily.amount_usd + excluded.amount_usd,
        message_count = daily.message_count + excluded.message_count,
        item_count = daily.item_count + excluded.item_count,
        unpriced_count = daily.unpriced_count + excluded.unpriced_count,
        included_usd = daily.included_usd + excluded.included_usd;

  insert into public.daily_totals as total (
    workspace_id, environment, dimension, day, value, type, amount_usd, message_count, unpriced_count, included_usd
  )
  select c.workspace_id, c.environment, slice.dimension, c.day, slice.value, c.type,
    sum(c.amount_usd), sum(c.message_count), sum(c.unpriced_count), sum(c.included_usd)
  from unnest(changes) as c
  cross join lateral (values
    ('project', c.project_id::text), ('key', c.api_key_id::text), ('provider', c.provider),
    ('model', c.model), ('feature', c.feature)
  ) as slice (dimension, value)
  group by 1, 2, 3, 4, 5, 6
  order by 1, 2, 3, 4, 5, 6
  on conflict on constraint daily_totals_key do update
    set amount_usd = total.amount_usd + excluded.amount_usd,
        message_count = total.message_count + excluded.message_count,
        unpriced_count = total.unpriced_count + excluded.unpriced_count,
        included_usd = total.included_usd + excluded.included_usd;

  -- Apart, so that what names neither costs no more.
  if exists (select from unnest(changes) where end_user is not null or tags is not null) then
    insert into public.daily_totals as total (
      workspace_id, environment, dimension, day, value, type, amount_usd, message_count, unpriced_count, included_usd
    )
    select c.workspace_id, c.environment, slice.dimension, c.day, slice.value, c.type,
      sum(c.amount_usd), sum(c.message_count), sum(c.unpriced_count), sum(c.included_usd)
    from unnest(changes) as c
    cross join lateral (
      select 'user' as dimension, c.end_user as value where c.end_user is not null
      union all
      select 'tag', tag from unnest(c.tags) as tag
    ) as slice
    group by 1, 2, 3, 4, 5, 6
    order by 1, 2, 3, 4, 5, 6
    on conflict on constraint daily_totals_key do update
      set amount_usd = total.amount_usd + excluded.amount_usd,
          message_count = total.message_count + excluded.message_count,
          unpriced_count = total.unpriced_count + excluded.unpriced_count,
          included_usd = total.included_usd + excluded.included_usd;
  end if;

  if exists (select from unnest(changes) where day < (now() at time zone 'UTC')::date - 1) then
    perform private.add_folded_spend(changes);
  end if;
end
$$;
