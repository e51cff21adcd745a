import type { ClientBase } from "pg";
import type { SessionsQuery } from "@/lib/contract/spend/sessions";
import { integer, numeric, type Row, text, texts, timestamp } from "@/lib/db/columns";
import { selectAll, selectFirst } from "@/lib/db/query";
import { empty, microsecondsText, type Sql, sql } from "@/lib/db/sql";
import type { ZonedDays } from "@/lib/ledger/days";
import { isWithin } from "./activity-queries";
import { condition, lineConditions, rowConditions } from "./filters";

/** A position in the order of sessions: `value` is the amount, exact text, or the latest instant, ISO 8601. */
export type SessionPlace = { value: string; session: string };

const totals = {
  amount_usd: numeric(),
  call_count: integer(),
  first_at: timestamp(),
  last_at: timestamp(),
};

const sessionRow = { session: text(), ...totals, last: text(), models: texts() };

/** The sums of a session; the amount is exact text, `last` the latest instant to the microsecond. */
export type StoredSession = Row<typeof sessionRow>;

/** The condition for postings that count in sessions: the first line of a usage, which has the sum of all, and each batch line. */
const isOfSession = sql`m.session is not null and (m.part = 0 or m.type = 'batch')`;
const summed = sql`
  sum(case when m.type = 'batch' then m.amount_usd else coalesce(m.lines_usd, m.amount_usd) end) as amount_usd,
  (count(distinct m.id) filter (where m.voids is null) - count(distinct m.id) filter (where m.voids is not null))::int as call_count,
  min(m.occurred_at) as first_at, max(m.occurred_at) as last_at`;

/** The sessions with rows that match, in order, at most `limit`. */
export function selectSessions(
  client: ClientBase,
  workspaceId: string,
  { sort, emitter, session, ...filters }: Omit<SessionsQuery, "limit" | "cursor">,
  range: ZonedDays,
  after: SessionPlace | undefined,
  limit: number,
): Promise<StoredSession[]> {
  const [key, given] =
    sort === "-amount"
      ? [sql`amount_usd`, sql`${after?.value}::numeric`]
      : [sql`last_at`, sql`${after?.value}::timestamptz`];
  return selectAll(
    client,
    sessionRow,
    sql`select coalesce(session, '') as session, trim_scale(amount_usd) as amount_usd, call_count, first_at, last_at,
        ${microsecondsText(sql`last_at`)} as last, models
      from (
        select m.session, ${summed},
          coalesce((array_agg(distinct m.model) filter (where m.model is not null))[:5], '{}') as models
        from public.messages as m
        where m.workspace_id = ${workspaceId} and ${isWithin(sql`m.occurred_at`, range, undefined)} and ${isOfSession}
          ${rowConditions(sql`m`, workspaceId, filters)} ${lineConditions(sql`m`, filters)} ${condition(sql`m.emitter`, emitter)}
          ${condition(sql`m.session`, session)}
        group by m.session
      ) as sessions
      where true ${after ? sql`and (${key}, session) < (${given}, ${after.session})` : empty}
      order by ${key} desc, session desc
      limit ${limit}`,
  );
}

/** The most postings of a session that are summed. A longer session has no sum. */
const maxSummed = 10_000;

/** The total of a session over all time; undefined if it has more than `maxSummed` postings. */
export async function selectSessionTotal(
  client: ClientBase,
  workspaceId: string,
  environment: "live" | "test",
  session: string,
): Promise<Row<typeof totals> | undefined> {
  const first: Sql = sql`select * from public.messages as m
    where m.workspace_id = ${workspaceId} and m.session = ${session} and ${isOfSession} limit ${maxSummed + 1}`;
  const row = await selectFirst(
    client,
    { ...totals, postings: integer() },
    sql`select trim_scale(amount_usd) as amount_usd, call_count, first_at, last_at, postings
      from (
        select ${summed}, count(*)::int as postings from (${first}) as m where m.environment = ${environment}
      ) as total
      where amount_usd is not null`,
  );
  if (!row || row.postings > maxSummed) return undefined;
  const { postings: _, ...total } = row;
  return total;
}
