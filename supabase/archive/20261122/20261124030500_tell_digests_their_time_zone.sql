-- What a process needs to send a delivery.
-- returns: { workspace_id, id, lease, attempts, workspace, channel, alert, digest }, with the channel's secrets; `digest` has
--   the channel's time zone, the count of its alerts and the newest hundred; a test has neither an alert nor a digest
create or replace function private.describe_delivery(d public.alert_deliveries)
 returns jsonb
 language sql
 stable security definer
 set search_path to ''
as $function$
  select jsonb_build_object(
    'workspace_id', d.workspace_id, 'id', d.id, 'lease', d.lease, 'attempts', d.attempts,
    'workspace', jsonb_build_object('slug', w.slug, 'name', w.name),
    'channel', jsonb_build_object(
      'id', c.id, 'name', c.name, 'kind', c.kind, 'is_failing', c.failing_since is not null,
      'address', s.address,
      'signing_secrets', case when s.signing_secret is null then '[]' else
        jsonb_build_array(s.signing_secret)
        || case when s.old_ends_at > clock_timestamp() then jsonb_build_array(s.old_signing_secret) else '[]' end
      end,
      -- Mail goes to people who are members now.
      'recipients', case when c.kind = 'email' then (
        select coalesce(jsonb_agg(p.email order by p.email), '[]')
        from public.workspace_members as m
        join public.profiles as p on p.id = m.user_id
        where m.workspace_id = d.workspace_id and lower(p.email) = any (string_to_array(c.target, ', '))
      ) else '[]' end
    ),
    'alert', (
      select private.describe_alert(a)
      from public.alerts as a
      where a.workspace_id = d.workspace_id and a.id = d.alert_id
    ),
    'digest', case when d.digest_at is not null then (
      select jsonb_build_object('time_zone', c.time_zone, 'count', count(*), 'alerts', coalesce(
        jsonb_agg(private.describe_alert(a) order by a.number desc) filter (where listed.place <= 100), '[]'
      ))
      from (
        select m.alert_id, row_number() over (order by m.number desc) as place
        from public.alert_deliveries as m
        where m.workspace_id = d.workspace_id and m.digest_id = d.id
      ) as listed
      join public.alerts as a on a.workspace_id = d.workspace_id and a.id = listed.alert_id
    ) end
  )
  from public.alert_channels as c
  join private.channel_secrets as s on s.workspace_id = c.workspace_id and s.channel_id = c.id
  join public.workspaces as w on w.id = c.workspace_id
  where c.workspace_id = d.workspace_id and c.id = d.channel_id
$function$;
