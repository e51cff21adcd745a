-- What `supabase db reset` and `supabase start` load into the local project: a user in a workspace of a team, with a month
-- of spend. (`npm start` without a POSTGRES_URL makes a demo of its own, with four months: lib/ledger/demo.)
--
-- The user has no password, so that this file opens no account where it is loaded by mistake (`db push --include-seed`,
-- `db reset --linked`). Sign in by link as ada@example.com; the mail is at http://127.0.0.1:54324.
do $$
declare
  ada constant uuid := '0a0a0a0a-0000-4000-8000-000000000001';
  team constant uuid := '0a0a0a0a-0000-4000-8000-000000000002';
  projects constant jsonb := '[
    {"id": "0a0a0a0a-0000-4000-8000-000000000003", "slug": "support-assistant", "name": "Support assistant"},
    {"id": "0a0a0a0a-0000-4000-8000-000000000004", "slug": "code-review", "name": "Code review"}
  ]';
  moment timestamptz;
begin
  if exists (select from auth.users where id = ada) then
    return;
  end if;

  -- Supabase Auth reads the four tokens as text and expects no null. The trigger on auth.users makes the profile.
  insert into auth.users (
    instance_id, id, aud, role, email, encrypted_password, email_confirmed_at, raw_app_meta_data, raw_user_meta_data,
    created_at, updated_at, confirmation_token, recovery_token, email_change_token_new, email_change
  )
  values (
    '00000000-0000-0000-0000-000000000000', ada, 'authenticated', 'authenticated', 'ada@example.com', '', now(),
    '{"provider": "email", "providers": ["email"]}', '{"display_name": "Ada", "email_verified": true}', now(), now(),
    '', '', '', ''
  );
  insert into auth.identities (provider_id, user_id, identity_data, provider, created_at, updated_at)
  values (
    ada::text, ada, jsonb_build_object('sub', ada, 'email', 'ada@example.com', 'email_verified', true), 'email', now(), now()
  );

  insert into public.workspaces (id, slug, name) values (team, 'example', 'Example');
  insert into public.workspace_members (workspace_id, user_id, role) values (team, ada, 'owner');
  update public.profiles set default_workspace_id = team where id = ada;
  insert into public.budgets (workspace_id, name, scope_type, amount) values (team, 'Everything', 'global', 250);

  -- Through the function that records, so that every sum agrees. The month of a moment has to be there first.
  for moment in select generate_series(now() - interval '30 days', now(), interval '1 day') loop
    perform private.ensure_messages_month(moment);
  end loop;
  perform private.store_messages(
    (select jsonb_agg(project || jsonb_build_object('workspace_id', team)) from jsonb_array_elements(projects) as project),
    (
      select jsonb_agg(jsonb_build_object(
        'workspace_id', team, 'id', gen_random_uuid(), 'occurred_at', now() - day * interval '1 day',
        'created_at', now() - day * interval '1 day', 'project_id', project ->> 'id', 'user_id', ada, 'type', 'usage',
        'source', 'import', 'environment', 'live', 'provider', model.provider, 'model', model.name, 'unit_type',
        'input_tokens', 'quantity', 250000 * (1 + (day * 7 + place) % 9), 'amount_usd', 0.5 * (1 + (day * 7 + place) % 9),
        'cost_status', 'client'
      ))
      from generate_series(0, 30) as day
      cross join jsonb_array_elements(projects) with ordinality as p (project, place)
      cross join (values ('openai', 'gpt-4o'), ('anthropic', 'claude-sonnet-4-5')) as model (provider, name)
    ),
    '[]'
  );
end
$$;
