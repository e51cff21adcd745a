import type { ClientBase } from "pg";
import type { AuditQuery } from "@/lib/contract/access/audit";
import { nullable, type Row, text, timestamp, uuid } from "@/lib/db/columns";
import { execute, selectAll, selectFirst } from "@/lib/db/query";
import { containing, empty, join, microsecondsText, raw, type Sql, sql } from "@/lib/db/sql";

/** A position in the audit log: that of one entry. `at` is exact to the microsecond, ISO 8601 in UTC. */
export type AuditPlace = { at: string; id: string };

/** The filters of a query, and its order. */
export type AuditFilters = Omit<AuditQuery, "limit" | "cursor"> & {
  /** The time zone of the days `from` and `to`. */
  timeZone: string;
};

const placeAt = microsecondsText(sql`a.at`);

const auditRow = {
  id: uuid(),
  at: timestamp(),
  place_at: text(),
  actor_id: nullable(uuid()),
  actor_email: nullable(text()),
  actor_name: nullable(text()),
  actor_key_id: nullable(uuid()),
  actor_key: nullable(text()),
  action: text(),
  kind: text(),
  subject_id: nullable(text()),
  before: nullable(text()),
  after: nullable(text()),
  address: nullable(text()),
};

/** An entry of the audit log; `before` and `after` are JSON as text, `place_at` is `at` to the microsecond. */
export type AuditRow = Row<typeof auditRow>;

/** The fields that name a changed row. */
const names = [
  ...["name", "slug", "email", "client_name", "pseudonym", "rule", "scope_value"],
  ...["provider", "model", "unit_type"],
];

/** The text that a search looks through. */
const searched = raw(
  `concat_ws(E'\\n', a.subject_id, ${["before", "after"].flatMap((side) => [
    ...names.map((name) => `a.${side} ->> '${name}'`),
    `a.${side} -> 'message' ->> 'vendor'`,
  ])})`,
);

/** The conditions of filters. `indexed`: an index finds matching entries in the order of time. `rest`: checked for each of them. */
function conditionsOf({ actor, key, kind, action, subject, q }: AuditFilters): {
  indexed: Sql[];
  rest: Sql[];
} {
  const byActor =
    actor === undefined ? [] : [actor === null ? sql`a.actor_id is null` : sql`a.actor_id = ${actor}`];
  const byKey = key === undefined ? [] : [sql`a.actor_key_id = ${key}`];
  const byKind = kind === undefined ? [] : [sql`a.kind = ${kind}`];
  const byAction = action === undefined ? [] : [sql`a.action = ${action}`];
  const byText = q === undefined ? [] : [sql`${searched} ilike ${containing(q)}`];
  if (subject !== undefined) {
    return {
      indexed: [sql`a.subject_id = ${subject}`],
      rest: [...byActor, ...byKey, ...byAction, ...byKind, ...byText],
    };
  }
  if (key !== undefined) return { indexed: byKey, rest: [...byActor, ...byAction, ...byKind, ...byText] };
  return action === undefined
    ? { indexed: [...byActor, ...byKind], rest: byText }
    : { indexed: byAction, rest: [...byActor, ...byKind, ...byText] };
}

/** Selects the entries that an index finds after a position, in order. The caller adds `limit`. */
function inOrder(columns: Sql, workspaceId: string, filters: AuditFilters, after: AuditPlace | null): Sql {
  const { from, to, order, timeZone } = filters;
  const { indexed } = conditionsOf(filters);
  const place = after && sql`(${after.at}::timestamptz, ${after.id}::uuid)`;
  const conditions = [
    sql`a.workspace_id = ${workspaceId}`,
    ...indexed,
    ...(from === undefined ? [] : [sql`a.at >= ${from}::date::timestamp at time zone ${timeZone}`]),
    ...(to === undefined ? [] : [sql`a.at < (${to}::date + 1)::timestamp at time zone ${timeZone}`]),
    ...(place === null
      ? []
      : [order === "newest" ? sql`(a.at, a.id) < ${place}` : sql`(a.at, a.id) > ${place}`]),
  ];
  return sql`select ${columns} from public.audit_log as a where ${join(conditions, " and ")} ${ordered(order)}`;
}

const ordered = (order: AuditQuery["order"]) =>
  order === "newest" ? sql`order by a.at desc, a.id desc` : sql`order by a.at, a.id`;

/** Whether filters have conditions that no index answers, so that only a few of the entries read may match. */
export function isSearch(filters: AuditFilters): boolean {
  return conditionsOf(filters).rest.length > 0;
}

/**
 * Makes the rest of the transaction read the log in the order of an index. Postgres would otherwise read and sort the whole table,
 * because it assumes a page read for each of 10,000 entries; in fact, entries of about the same time share pages.
 */
export async function readInOrder(client: ClientBase): Promise<void> {
  await execute(
    client,
    sql`select set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true)`,
  );
}

/** A workspace's matching entries after a position. @param amongFirst the most entries that a search reads */
export function selectEntries(
  client: ClientBase,
  workspaceId: string,
  filters: AuditFilters,
  { after, atMost, amongFirst }: { after: AuditPlace | null; atMost: number; amongFirst: number },
): Promise<AuditRow[]> {
  const { rest } = conditionsOf(filters);
  const looked = inOrder(sql`a.*`, workspaceId, filters, after);
  return selectAll(
    client,
    auditRow,
    sql`select a.id, a.at, ${placeAt} as place_at, a.actor_id, a.actor_email, p.display_name as actor_name, a.actor_key_id, a.actor_key,
      a.action,
        a.kind, a.subject_id, a.before::text, a.after::text, a.address
      from (${looked} limit ${rest.length === 0 ? atMost : amongFirst}) as a
      left join public.profiles as p on p.id = a.actor_id
      ${rest.length === 0 ? empty : sql`where ${join(rest, " and ")}`}
      ${ordered(filters.order)}
      limit ${atMost}`,
  );
}

/** The position of the last entry that a search read; undefined if it reached the end. */
export function selectLastSearched(
  client: ClientBase,
  workspaceId: string,
  filters: AuditFilters,
  { after, amongFirst }: { after: AuditPlace | null; amongFirst: number },
): Promise<AuditPlace | undefined> {
  const looked = inOrder(sql`a.at, a.id`, workspaceId, filters, after);
  return selectFirst(
    client,
    { at: text(), id: uuid() },
    sql`select ${placeAt} as at, a.id from (${looked} offset ${amongFirst - 1} limit 1) as a`,
  );
}
