-- Copies of messages of a closed month, by actions on many and their undo, are booked as adjustments of it.

-- Records messages again under new ids, with every sum that they are part of. They count for the same keys as before. Those of a closed
-- month are booked as adjustments of it.
--
-- change: what is different: { project_id, feature (null for none), tags: added as `name:value`, untagged: names of tags that are
--   removed, factor: the amounts are multiplied by it }; a member that is missing changes nothing
create or replace function private.copy_messages(workspace uuid, ids uuid[], new_ids uuid[], change jsonb)
returns void
language plpgsql volatile security definer set search_path = '' set timezone = 'UTC' set plan_cache_mode = force_generic_plan
as $$
declare
  factor constant numeric := (change ->> 'factor')::numeric;
  tagged constant text[] := array(select jsonb_array_elements_text(change -> 'tags'));
  untagged constant text[] := array(select jsonb_array_elements_text(change -> 'untagged'))
    || array(select split_part(tag, ':', 1) from unnest(tagged) as tag);
begin
  insert into public.messages
  select booked.*
  from unnest(ids, new_ids) as copy (id, new_id)
  join public.messages as m on m.workspace_id = workspace and m.id = copy.id
  cross join lateral private.book_open(jsonb_populate_record(m, jsonb_build_object(
    'id', copy.new_id, 'created_at', date_trunc('milliseconds', clock_timestamp()), 'voids', null, 'voided_by', null,
    'counted_at', coalesce(m.counted_at, m.created_at), 'user_id', auth.uid(),
    'project_id', coalesce((change ->> 'project_id')::uuid, m.project_id),
    'feature', case when change ? 'feature' then change ->> 'feature' else m.feature end,
    'tags', nullif(array(
      select tag from unnest(m.tags || tagged) with ordinality as of (tag, place)
      where place > coalesce(cardinality(m.tags), 0) or split_part(tag, ':', 1) <> all (untagged)
      order by tag collate "C"
    ), '{}')
  ) || case when factor is null then '{}' else jsonb_build_object(
    'amount_usd', round(m.amount_usd * factor, 18), 'lines_usd', round(m.lines_usd * factor, 18),
    'original_amount', m.original_amount * factor,
    'cost_status', case m.cost_status when 'converted' then 'converted' else 'client' end,
    'price', case m.cost_status when 'converted' then m.price end
  ) end), private.closed_until(workspace)) as booked;
  if factor is not null then
    perform private.sum_lines(array_fill(workspace, array[cardinality(new_ids)]), new_ids);
  end if;
  perform private.count_messages(array_fill(workspace, array[cardinality(new_ids)]), new_ids);
end
$$;
