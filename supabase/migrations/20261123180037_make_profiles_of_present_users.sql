-- Accounts that a Supabase project had before: the trigger of new accounts gives each a profile and a personal workspace.
update auth.users set email = email where not exists (select from public.profiles where profiles.id = users.id);
