-- What a project spent is asked by its page, by keys, and by every allocation of a percentage. The index grows with new
-- combinations alone: adding to a sum changes none of its columns.
create index daily_spend_project_idx on public.daily_spend (workspace_id, project_id, day);
