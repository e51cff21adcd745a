-- What a row is told by (its id), who made it and when are the database's to say, not the user's, through whichever API
-- they insert. tests/db/user-grants.test.ts compares every grant with this rule.

revoke insert (id) on public.workspaces from authenticated;

alter table public.invitations alter column invited_by set default auth.uid();
revoke insert (id, invited_by) on public.invitations from authenticated;

alter table public.prices alter column created_by set default auth.uid();
revoke insert (created_by), update (created_by) on public.prices from authenticated;

alter table public.repricings
  alter column requested_by set default auth.uid(),
  alter column requested_by_email set default auth.email();
revoke insert (requested_by, requested_by_email) on public.repricings from authenticated;

-- A price is whose who set it last. The service and the schema's owner name somebody, or nobody, themselves.
create function private.own_changed_price()
returns trigger
language plpgsql set search_path = ''
as $$
begin
  new.created_by := coalesce(auth.uid(), new.created_by);
  return new;
end
$$;
revoke all on function private.own_changed_price() from public;

create trigger price_changes_are_owned
  before update of rate on public.prices
  for each row execute function private.own_changed_price();
