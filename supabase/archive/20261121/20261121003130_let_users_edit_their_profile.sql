-- A user's name, picture and default workspace are their own to say. The address follows the account's.
grant update (display_name, avatar_url, default_workspace_id) on public.profiles to authenticated;

-- Shown to others, so only what a browser may load as a picture, and from elsewhere than this service.
alter table public.profiles add constraint profiles_avatar_url_is_https check (avatar_url ~ '^https://');

create policy "A user edits their own profile and chooses among their own workspaces"
  on public.profiles for update to authenticated
  using (id = (select auth.uid()))
  with check (
    id = (select auth.uid())
    and (default_workspace_id is null or default_workspace_id in (select private.member_workspaces()))
  );
