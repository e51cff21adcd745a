-- A budget may be of a person or a tag, by name. Both names may be longer than those of features.
alter table public.budgets drop constraint budgets_scope_type_check;
alter table public.budgets add constraint budgets_scope_type_check
  check (scope_type = any (array['global', 'project', 'feature', 'provider', 'key', 'user', 'tag']));
alter table public.budgets drop constraint budgets_scope_value_is_short;
alter table public.budgets add constraint budgets_scope_value_is_short check (char_length(scope_value) between 1 and 255);
