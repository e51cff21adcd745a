import type { ClientBase } from "pg";

/** A place in the order of the audit log: the entry it stands behind. `at` is exact to the microsecond, ISO 8601 in UTC. */
export type AuditPlace = { at: string; id: string };

/** A line of the audit log; `before` and `after` are JSON as text, `place_at` is `at` to the microsecond. */
export type AuditRow = {
  id: string;
  at: Date;
  place_at: string;
  actor_id: string | null;
  actor_email: string | null;
  actor_name: string | null;
  action: string;
  subject: string;
  before: string | null;
  after: string | null;
  address: string | null;
};

/** A workspace's log behind a place, the newest first. @param kind of one kind of subject alone */
export async function selectEntries(
  client: ClientBase,
  workspaceId: string,
  { kind, behind, atMost }: { kind: string | null; behind: AuditPlace | null; atMost: number },
): Promise<AuditRow[]> {
  const { rows } = await client.query<AuditRow>(
    `select a.id, a.at, to_char(a.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as place_at,
       a.actor_id, a.actor_email, p.display_name as actor_name, a.action, a.subject,
       a.before::text, a.after::text, a.address
     from public.audit_log as a
     left join public.profiles as p on p.id = a.actor_id
     where a.workspace_id = $1
       and ($2::text is null or split_part(a.subject, ' ', 1) = $2)
       and ($3::timestamptz is null or (a.at, a.id) < ($3, $4::uuid))
     order by a.at desc, a.id desc
     limit $5`,
    [workspaceId, kind, behind?.at ?? null, behind?.id ?? null, atMost],
  );
  return rows;
}
