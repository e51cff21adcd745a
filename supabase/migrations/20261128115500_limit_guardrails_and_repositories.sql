-- OpenRouter's guardrails and GitHub's repositories have limits, too.
alter table public.provider_limits
  drop constraint provider_limits_kind_check,
  add constraint provider_limits_kind_check
    check (kind in ('organization', 'project', 'workspace', 'key', 'member', 'guardrail', 'repository'));
