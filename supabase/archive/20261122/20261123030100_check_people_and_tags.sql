-- Writers are not blocked while existing rows are checked.
alter table public.messages validate constraint messages_cost_status_check;
alter table public.messages validate constraint messages_included_check;
alter table public.messages validate constraint messages_tags_check;
