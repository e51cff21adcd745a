-- Seats of provider accounts: how many there are, how many of them nobody used for 30 days, and what one costs a month.
alter table public.provider_accounts
  add column seat_count integer check (seat_count >= 0),
  add column unused_seat_count integer check (unused_seat_count between 0 and seat_count),
  add column seat_usd numeric;

create or replace function private.finish_provider_pull(ended jsonb)
returns void
language plpgsql volatile security definer set search_path = ''
as $$
declare
  outcome constant text := ended ->> 'outcome';
  at_moment constant timestamptz := clock_timestamp();
begin
  update public.provider_accounts as p
  set lease = null, leased_until = null,
    last_pull_at = case when outcome = 'interrupted' then p.last_pull_at else at_moment end,
    last_success_at = case when outcome = 'done' then at_moment else p.last_success_at end,
    problem = case when outcome = 'interrupted' then p.problem else left(ended ->> 'problem', 500) end,
    is_refused = case when outcome = 'interrupted' then p.is_refused else outcome = 'refused' end,
    attempts = case outcome when 'failed' then p.attempts + 1 when 'interrupted' then p.attempts else 0 end,
    next_pull_at = at_moment + (ended ->> 'retry_in_seconds')::integer * interval '1 second',
    next_day = case when outcome = 'done' then null else p.next_day end,
    pulled_through = case when outcome = 'done' then (ended ->> 'pulled_through')::date else p.pulled_through end,
    has_data = p.has_data or coalesce((ended ->> 'has_data')::boolean, false),
    accepts_jump = p.accepts_jump and outcome <> 'done',
    held_day = case when outcome = 'done' then (ended -> 'held' ->> 'day')::date else p.held_day end,
    held_usd = case when outcome = 'done' then (ended -> 'held' ->> 'amount_usd')::numeric else p.held_usd end,
    usual_usd = case when outcome = 'done' then (ended -> 'held' ->> 'usual_usd')::numeric else p.usual_usd end,
    seat_count = case when ended ? 'seats' then (ended -> 'seats' ->> 'count')::integer else p.seat_count end,
    unused_seat_count = case when ended ? 'seats' then (ended -> 'seats' ->> 'unused_count')::integer else p.unused_seat_count end,
    seat_usd = case when ended ? 'seats' then (ended -> 'seats' ->> 'usd')::numeric else p.seat_usd end
  where p.workspace_id = (ended ->> 'workspace_id')::uuid and p.id = (ended ->> 'id')::uuid and p.lease = (ended ->> 'lease')::uuid;
end
$$;
