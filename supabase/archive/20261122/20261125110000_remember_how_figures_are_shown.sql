-- How a person wants figures to be shown: the locale of numbers and dates (null: the browser's), and whether amounts are in
-- USD, in the workspace's base currency, or in both. They are recorded in USD in any case.
alter table public.profiles
  add column locale text,
  add column shown_currency text not null default 'usd',
  add constraint profiles_locale_check check (locale ~ '^[a-z]{2,3}-[A-Z]{2}$'),
  add constraint profiles_shown_currency_check check (shown_currency in ('usd', 'base', 'both'));

grant update (locale, shown_currency) on public.profiles to authenticated;
