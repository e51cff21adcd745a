-- Postgres truncates names to 63 bytes. These were longer, and their stored names ended in the middle of a sentence.
alter policy "A user reads their own profile and those of their workspaces' members" on public.profiles
  rename to "A user reads their own profile and those of fellow members";
alter policy "A user edits their own profile and chooses among their own workspaces" on public.profiles
  rename to "A user edits their profile and picks among their workspaces";
alter policy "A session proves its user's second factor before it changes their profile" on public.profiles
  rename to "A session proves a second factor to change a profile";
alter policy "A session proves its user's second factor before it makes or changes a workspace" on public.workspaces
  rename to "A session proves a second factor to make or change workspaces";
alter policy "A session proves its user's second factor before it touches a membership" on public.workspace_members
  rename to "A session proves a second factor to change a membership";
alter policy "A member leaves, an owner removes everybody, an admin all below an owner" on public.workspace_members
  rename to "A member leaves, an owner removes all, an admin all but owners";
alter policy "A member changes the keys they made, an admin every key, until it is revoked" on public.api_keys
  rename to "A member changes keys they made, an admin all, until revoked";
alter policy "A member revokes their own connections, an admin every one of the workspace" on public.connections
  rename to "A member revokes their own connections, an admin all";
alter policy "A key reads the messages of its environment in the projects of its scope" on public.messages
  rename to "A key reads messages of its environment in its projects";
alter policy "A key reads the daily spend of its environment in the projects of its scope" on public.daily_spend
  rename to "A key reads the daily spend of its environment and projects";
alter policy "Nobody reads what the keys of a workspace that was deleted spent" on public.key_spend
  rename to "Nobody reads what keys of a deleted workspace spent";
