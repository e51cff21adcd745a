-- Every key reads through these policies, but few keys are of users. Postgres takes `a is null or b = any (…)` for a condition that
-- one row in two hundred meets: it read and sorted every message of a month to list the latest 200 of a project, 200 ms in
-- place of 2. It takes a `case` for one that half of the rows meet.

alter policy "A key of users reads daily spend of these alone"
  on public.daily_spend
  using (case when (select private.key_users()) is null then true else end_user = any ((select private.key_users())::text[]) end);

alter policy "A key of users reads messages of these alone"
  on public.messages
  using (case when (select private.key_users()) is null then true else end_user = any ((select private.key_users())::text[]) end);
