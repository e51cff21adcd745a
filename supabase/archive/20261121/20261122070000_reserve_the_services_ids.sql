-- The demo workspace and the key of SVC_API_KEY have ids that everybody can read in the source. Nothing else may have
-- them: a workspace of somebody's own under the first would receive all that the environment's key records.
alter table public.workspaces
  add constraint workspaces_id_demo_is_the_demo
  check (id <> '00000000-0000-4000-8000-0000000000d0' or type = 'demo');

alter table public.api_keys
  add constraint api_keys_id_environment_is_reserved
  check (
    id <> '00000000-0000-4000-8000-0000000000e1'
    or (kind = 'environment' and workspace_id = '00000000-0000-4000-8000-0000000000d0')
  );
