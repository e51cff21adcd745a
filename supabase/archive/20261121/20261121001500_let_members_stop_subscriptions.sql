-- A subscription is stopped by a member, as themselves; nothing else of it can be changed by hand.
grant update (stopped_at, next_on) on public.recurring_subscriptions to authenticated;

create policy "A member stops the recurring subscriptions of their workspaces"
  on public.recurring_subscriptions for update to authenticated
  using (workspace_id in (select private.member_workspaces(array['owner', 'admin', 'member'])))
  with check (
    workspace_id in (select private.member_workspaces(array['owner', 'admin', 'member']))
    and stopped_at is not null and next_on is null
  );

create trigger stopped_subscriptions_are_audited
  after update on public.recurring_subscriptions
  for each row when (old.stopped_at is distinct from new.stopped_at)
  execute function private.audit_change('subscription');
