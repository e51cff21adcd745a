-- Names a limit at a provider from when it is linked, and not from when the provider is first read.
-- given: { id, budget_id, account_id, kind, target, target_name or null, period, removes }
-- returns: 'added'; 'no_account'; 'taken' where a budget is linked to it already; 'too_many'
create or replace function private.add_provider_limit(workspace uuid, given jsonb, at_most integer)
returns text
language plpgsql volatile security definer set search_path = ''
as $$
declare
  of_account public.provider_accounts;
begin
  perform private.require_admin_of(workspace);
  select a.* into of_account from public.provider_accounts as a
  where a.workspace_id = workspace and a.id = (given ->> 'account_id')::uuid
  for update;
  if of_account.id is null then
    return 'no_account';
  end if;
  if (select count(*) from public.provider_limits as l where l.workspace_id = workspace) >= at_most then
    return 'too_many';
  end if;
  insert into public.provider_limits (workspace_id, id, budget_id, account_id, provider, account, kind, target, target_name, period, removes)
  select workspace, g.id, g.budget_id, of_account.id, of_account.provider, of_account.account, g.kind, g.target, g.target_name,
    g.period, g.removes
  from jsonb_to_record(given) as g (
    id uuid, budget_id uuid, kind text, target text, target_name text, period text, removes boolean
  )
  on conflict on constraint provider_limits_target_key do nothing;
  return case when found then 'added' else 'taken' end;
end
$$;
