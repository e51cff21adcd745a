-- The range that a person last chose for the pages of figures: a period, and what it is compared with. Null: none.
alter table public.profiles
  add column shown_period text,
  add column shown_compare text,
  add constraint profiles_shown_period_check check (shown_period in (
    'day', 'week', 'month', 'quarter', 'year', 'last_month', 'last_7_days', 'last_30_days', 'last_90_days', 'all'
  )),
  add constraint profiles_shown_compare_check check (shown_compare in ('previous', 'last_year', 'none')),
  add constraint profiles_shown_range_is_whole check ((shown_period is null) = (shown_compare is null));

grant update (shown_period, shown_compare) on public.profiles to authenticated;
