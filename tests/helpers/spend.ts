import type { Fixtures } from "./keys";
import { type Exact, exact } from "./ledger/exact";

/** A line of the ledger for independent sums: an item of a batch, or a posting of another message. */
export type Line = {
  id: string;
  /** The part of the row that it is listed in: a batch is one row, whatever lines it has. */
  part: number;
  /** ISO 8601 to the microsecond, so that text order is time order. */
  at: string;
  project: string;
  type: string;
  environment: string;
  source: string;
  key: string | null;
  provider: string | null;
  model: string | null;
  feature: string | null;
  user: string | null;
  tags: string[] | null;
  status: string;
  amount: Exact;
  /** What it would have cost where a subscription covers it. */
  included: Exact;
  /** Whether it is the first line of its message, which counts the message. */
  isFirst: boolean;
};

/** The filters of activity and metrics, as in their query. */
export type SpendFilter = {
  period: "day" | "week" | "month" | "quarter" | "year" | "all" | "range";
  from?: string;
  to?: string;
  environment: string;
  project?: string;
  type?: string;
  key?: string;
  provider?: string;
  model?: string;
  feature?: string;
  user?: string;
  tag?: string;
  source?: string;
};

/** A range of times; `until` is exclusive. */
type Range = { from: string; until: string };

/** Every line of a workspace, in the order of the activity page. */
export async function loadLines(fixtures: Fixtures, workspaceId: string): Promise<Line[]> {
  const { rows } = await fixtures.sql.query(
    `select m.id, case when m.type = 'batch' then 0 else m.part end as part, to_char(m.occurred_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at,
       (select slug from public.projects as p where p.id = m.project_id) as project, m.type, m.environment, m.source,
       m.api_key_id as key, m.provider, m.model, m.feature, m.end_user as user, m.tags, m.cost_status as status, m.amount_usd::text as amount,
       coalesce(m.list_price_usd, 0)::text as included,
       m.part = 0 as "isFirst"
     from public.messages as m
     where m.workspace_id = $1
     order by m.occurred_at desc, m.id desc, part desc, m.part`,
    [workspaceId],
  );
  return rows.map((row) => ({ ...row, amount: exact(row.amount), included: exact(row.included) }));
}

/** The range of a period by Postgres' own calendar, and that of the preceding period. */
export async function loadRange(
  fixtures: Fixtures,
  { period, from, to }: SpendFilter,
): Promise<Range & { before?: Range }> {
  if (period === "all") return { from: "0001-01-01", until: "9999-12-31" };
  const { rows } = await fixtures.sql.query(
    `with bounds as (
       select
         case when $1 = 'range' then $2::timestamp else date_trunc($4, now() at time zone 'UTC') end as first,
         case when $1 = 'range' then $3::timestamp + interval '1 day'
           else date_trunc($4, now() at time zone 'UTC') + $5::interval end as past
     )
     select to_char(first, 'YYYY-MM-DD') as first, to_char(past, 'YYYY-MM-DD') as past,
       to_char(case when $1 = 'range' then first - (past - first) else first - $5::interval end, 'YYYY-MM-DD') as earlier
     from bounds`,
    [
      period,
      from ?? null,
      to ?? null,
      period === "range" ? "day" : period,
      period === "quarter" ? "3 months" : period === "range" ? "1 day" : `1 ${period}`,
    ],
  );
  const { first, past, earlier } = rows[0];
  return { from: first, until: past, before: { from: earlier, until: first } };
}

/** Whether a line matches a filter. An empty value matches lines without one. */
export function matches(line: Line, filter: SpendFilter, { from, until }: Range): boolean {
  const names = [
    ...(["environment", "project", "type", "key", "provider", "model", "feature", "user", "source"] as const),
  ];
  const { tag } = filter;
  return (
    (tag === undefined || (tag === "" ? line.tags === null : line.tags?.includes(tag) === true)) &&
    line.at >= from &&
    line.at < until &&
    names.every((name) => filter[name] === undefined || (line[name] ?? "") === filter[name])
  );
}

/** Identifies the ledger entry of a line: a row of the activity page. */
export const entryOf = ({ id, part }: Line) => `${id} ${part}`;

/** Groups items by a key, in their order. */
export function groupBy<Item, Key>(items: Item[], by: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) groups.set(by(item), [...(groups.get(by(item)) ?? []), item]);
  return groups;
}
