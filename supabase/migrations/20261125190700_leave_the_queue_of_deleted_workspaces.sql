-- The queue by the order of its indexes leaves deleted workspaces alone, as the one before it did.
create or replace function private.claim_alert_deliveries(room integer, room_failing integer, room_channel integer, lease_seconds integer)
returns jsonb
language plpgsql security definer set search_path = '' set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  at_moment constant timestamptz := clock_timestamp();
  taken jsonb;
begin
  with recursive waiting as (
    -- The channels with anything in the queue, each found by one look into the index.
    (select d.channel_id from public.alert_deliveries as d where d.state = 'pending' order by d.channel_id limit 1)
    union all
    select (
      select d.channel_id from public.alert_deliveries as d
      where d.state = 'pending' and d.channel_id > waiting.channel_id
      order by d.channel_id limit 1
    )
    from waiting
    where waiting.channel_id is not null
  ), candidates as (
    select due.at, due.next_attempt_at, c.failing_since is not null as is_failing,
      row_number() over (partition by c.id order by due.next_attempt_at, due.number) as place
    from waiting
    join public.alert_channels as c on c.id = waiting.channel_id and c.disabled_at is null
      and (select w.deleted_at from public.workspaces as w where w.id = c.workspace_id) is null
    cross join lateral (
      select d.ctid as at, d.number, d.next_attempt_at
      from public.alert_deliveries as d
      where d.channel_id = c.id and d.state = 'pending' and d.next_attempt_at <= at_moment
        and (d.leased_until is null or d.leased_until <= at_moment)
        and (d.ordered_by is null or d.number = (
          select first.number from public.alert_deliveries as first
          where first.channel_id = d.channel_id and first.ordered_by = d.ordered_by and first.state = 'pending'
          order by first.number limit 1
        ))
      order by d.next_attempt_at, d.number
      limit greatest(0, case when c.failing_since is null then room_channel else 1 end - (
        select count(*) from (
          select from public.alert_deliveries as held
          where held.channel_id = c.id and held.lease is not null and held.leased_until > at_moment
          order by held.leased_until limit room_channel
        ) as held
      ))
    ) as due
  ), ranked as (
    select at, is_failing,
      row_number() over (partition by is_failing order by place, next_attempt_at) as turn
    from candidates
  ), chosen as (
    select at from ranked
    where not is_failing or turn <= room_failing
    order by is_failing, turn
    limit room
  ), locked as (
    select d.ctid as at
    from chosen
    join public.alert_deliveries as d on d.ctid = chosen.at
    where d.state = 'pending' and d.next_attempt_at <= at_moment
      and (d.leased_until is null or d.leased_until <= at_moment)
    for update of d skip locked
  ), claimed as (
    update public.alert_deliveries as d
    set lease = gen_random_uuid(), leased_until = at_moment + lease_seconds * interval '1 second', attempts = d.attempts + 1
    from locked
    where d.ctid = locked.at
    returning d.*
  )
  select coalesce(jsonb_agg(private.describe_delivery(claimed::public.alert_deliveries) order by claimed.number), '[]')
  into taken
  from claimed;
  return taken;
end
$$;
