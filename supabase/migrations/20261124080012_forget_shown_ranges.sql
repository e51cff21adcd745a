-- Browsers remember the range that was last chosen themselves, so that one opens on what was chosen in it. Checks of the columns go with them.
alter table public.profiles
  drop column shown_period,
  drop column shown_compare;
