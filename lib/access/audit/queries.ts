import type { ClientBase } from "pg";
import { nullable, type Row, text, timestamp, uuid } from "@/lib/db/columns";
import { selectAll } from "@/lib/db/query";
import { empty, sql } from "@/lib/db/sql";

/** A position in the audit log: that of one entry. `at` is exact to the microsecond, ISO 8601 in UTC. */
export type AuditPlace = { at: string; id: string };

const auditRow = {
  id: uuid(),
  at: timestamp(),
  place_at: text(),
  actor_id: nullable(uuid()),
  actor_email: nullable(text()),
  actor_name: nullable(text()),
  action: text(),
  subject: text(),
  before: nullable(text()),
  after: nullable(text()),
  address: nullable(text()),
};

/** An entry of the audit log; `before` and `after` are JSON as text, `place_at` is `at` to the microsecond. */
export type AuditRow = Row<typeof auditRow>;

/** A workspace's entries after a position, newest first. @param kind only subjects of this kind; null: all */
export function selectEntries(
  client: ClientBase,
  workspaceId: string,
  { kind, after, atMost }: { kind: string | null; after: AuditPlace | null; atMost: number },
): Promise<AuditRow[]> {
  return selectAll(
    client,
    auditRow,
    sql`select a.id, a.at, to_char(a.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as place_at,
        a.actor_id, a.actor_email, p.display_name as actor_name, a.action, a.subject,
        a.before::text, a.after::text, a.address
      from public.audit_log as a
      left join public.profiles as p on p.id = a.actor_id
      where a.workspace_id = ${workspaceId}
        ${kind === null ? empty : sql`and split_part(a.subject, ' ', 1) = ${kind}`}
        ${after === null ? empty : sql`and (a.at, a.id) < (${after.at}::timestamptz, ${after.id}::uuid)`}
      order by a.at desc, a.id desc
      limit ${atMost}`,
  );
}
