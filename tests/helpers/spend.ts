import { fromTagList } from "@/lib/contract/ledger/attribution";
import type { Comparison, Period } from "@/lib/contract/spend/ledger-query";
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
  unit: string | null;
  /** Null for what is not counted in units. */
  quantity: Exact | null;
  amount: Exact;
  /** What it would have cost where a subscription covers it. */
  included: Exact;
  /** Whether it is the first line of its message, which counts the message. */
  isFirst: boolean;
};

/** The filters of activity and metrics, as in their query. */
export type SpendFilter = {
  period: Period;
  from?: string;
  to?: string;
  compare?: Comparison;
  compare_from?: string;
  compare_to?: string;
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
       coalesce(m.list_price_usd, 0)::text as included, m.unit_type as unit, m.quantity::text as quantity,
       m.part = 0 as "isFirst"
     from public.messages as m
     where m.workspace_id = $1
     order by m.occurred_at desc, m.id desc, part desc, m.part`,
    [workspaceId],
  );
  return rows.map((row) => ({
    ...row,
    amount: exact(row.amount),
    included: exact(row.included),
    quantity: row.quantity && exact(row.quantity),
  }));
}

/**
 * The range of a period by Postgres' own calendar, and the days it is compared with.
 * @param now milliseconds since 1970, in place of the present
 */
export async function loadRange(
  fixtures: Fixtures,
  { period, from, to, compare = "previous", compare_from: since, compare_to: last }: SpendFilter,
  now?: number,
): Promise<Range & { before?: Range }> {
  if (period === "all") return { from: "0001-01-01", until: "9999-12-31" };
  const latest = /^last_(\d+)_days$/.exec(period)?.[1];
  const { rows } = await fixtures.sql.query(
    `with today as (select date_trunc('day', coalesce($6::timestamptz, now()) at time zone 'UTC') as day), bounds as (
       select case
           when $1 = 'range' then $2::timestamp
           when $4::int is not null then day - make_interval(days => $4 - 1)
           when $1 = 'last_month' then date_trunc('month', day) - interval '1 month'
           when $1 = 'last_quarter' then date_trunc('quarter', day) - interval '3 months'
           when $1 = 'year_to_date' then date_trunc('year', day)
           else date_trunc($1, day)
         end as first,
         case
           when $1 = 'range' then $3::timestamp + interval '1 day'
           when $4::int is not null then day + interval '1 day'
           when $1 = 'last_month' then date_trunc('month', day)
           when $1 = 'last_quarter' then date_trunc('quarter', day)
           when $1 = 'year_to_date' then day + interval '1 day'
           when $1 = 'quarter' then date_trunc($1, day) + interval '3 months'
           else date_trunc($1, day) + ('1 ' || $1)::interval
         end as past
       from today
     ), spans as (
       select *, $4::int is null and $1 <> 'week' and extract(day from first) = 1 and extract(day from past) = 1 as is_months,
         age(past, first) as months, past - first as days,
         extract(isodow from first) = 1 and past - first = interval '7 days' as is_week
       from bounds
     )
     select to_char(first, 'YYYY-MM-DD') as first, to_char(past, 'YYYY-MM-DD') as past,
       to_char(case when is_months and $1 <> 'day' then first - months else first - days end, 'YYYY-MM-DD') as earlier,
       to_char(first - case when is_week then interval '364 days' else interval '1 year' end, 'YYYY-MM-DD') as last_year,
       to_char(case when is_week then past - interval '364 days' else past - interval '1 day' - interval '1 year' + interval '1 day' end, 'YYYY-MM-DD') as last_year_past,
       to_char($5::timestamp + interval '1 day', 'YYYY-MM-DD') as chosen_past
     from spans`,
    [
      period,
      from ?? null,
      to ?? null,
      latest ?? null,
      last ?? null,
      now === undefined ? null : new Date(now),
    ],
  );
  const {
    first,
    past,
    earlier,
    last_year: yearBefore,
    last_year_past: yearPast,
    chosen_past: chosenPast,
  } = rows[0];
  const before: Record<Comparison, Range | undefined> = {
    previous:
      period === "year_to_date" ? { from: yearBefore, until: yearPast } : { from: earlier, until: first },
    last_year: { from: yearBefore, until: yearPast },
    range: since === undefined ? undefined : { from: since, until: chosenPast },
    none: undefined,
  };
  const compared = before[compare];
  return { from: first, until: past, ...(compared && { before: compared }) };
}

const dayMs = 86_400_000;
const addDays = (day: string, days: number) =>
  new Date(Date.parse(day) + days * dayMs).toISOString().slice(0, 10);
const monthsOf = ({ from, until }: Range) =>
  from.endsWith("-01") && until.endsWith("-01")
    ? (Number(until.slice(0, 4)) - Number(from.slice(0, 4))) * 12 +
      Number(until.slice(5, 7)) -
      Number(from.slice(5, 7))
    : 0;

/**
 * What the days of a range correspond to in those compared with: `aligned`, day by day; and `stretch`, what has passed of them,
 * up to an instant. Of a month that goes on, both begin with the same weekday; years are compared up to the same date.
 */
export function correspondingTo(
  { compare, period }: { compare?: Comparison | undefined; period?: Period | undefined },
  { before, ...range }: Range & { before?: Range },
  now: number,
): { aligned: Range; stretch: Range } | undefined {
  if (!before) return undefined;
  const [today, tomorrow] = [0, 1].map((days) => addDays(new Date(now).toISOString().slice(0, 10), days)) as [
    string,
    string,
  ];
  const upTo = (until: string) => (until < tomorrow ? until : tomorrow);
  if (today < range.from) return { aligned: before, stretch: { from: before.from, until: before.from } };
  if (today >= range.until)
    return { aligned: before, stretch: { from: before.from, until: upTo(before.until) } };
  // A year to date is compared up to the same date, on January 31 too, when it is a whole month.
  const isMonth = monthsOf(range) === 1 && period !== "year_to_date" && compare !== "range";
  const weeks = isMonth ? (compare === "last_year" ? 52 : 4) : undefined;
  const aligned =
    weeks === undefined
      ? before
      : { from: addDays(range.from, -7 * weeks), until: addDays(range.until, -7 * weeks) };
  const passed = now - Date.parse(range.from);
  let end = Date.parse(aligned.from) + passed;
  if ((period === "year_to_date" || monthsOf(range) >= 12) && aligned.from.endsWith("-01")) {
    const years = Number(range.from.slice(0, 4)) - Number(aligned.from.slice(0, 4));
    const months = years * 12 + Number(range.from.slice(5, 7)) - Number(aligned.from.slice(5, 7));
    const same = new Date(now);
    same.setUTCMonth(same.getUTCMonth() - months);
    // February 29 becomes the end of February.
    end =
      same.getUTCDate() === new Date(now).getUTCDate()
        ? same.getTime()
        : Math.floor(same.getTime() / dayMs) * dayMs;
  }
  const until = new Date(Math.min(end, Date.parse(aligned.until), Date.parse(tomorrow))).toISOString();
  return { aligned, stretch: { from: aligned.from, until: `${until.slice(0, -1)}000Z` } };
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
    names.every(
      (name) => filter[name] === undefined || nameIn(name, line[name] ?? "") === nameIn(name, filter[name]),
    )
  );
}

/** What values of a dimension are told apart by: the names of providers without their letter case. */
export function nameIn<Value extends string | null>(dimension: string, value: Value): Value | string {
  return value !== null && dimension === "provider" ? value.toLowerCase() : value;
}

/** Identifies the ledger entry of a line: a row of the activity page. */
export const entryOf = ({ id, part }: Line) => `${id} ${part}`;

/** Groups items by a key, in their order. */
export function groupBy<Item, Key>(items: Item[], by: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) groups.set(by(item), [...(groups.get(by(item)) ?? []), item]);
  return groups;
}

/** The value of a line in a dimension of a question about spend; null for none. */
export function valueIn(line: Line, dimension: string): string | null {
  const day = line.at.slice(0, 10);
  if (dimension === "day") return day;
  if (dimension === "month") return `${day.slice(0, 7)}-01`;
  if (dimension === "week") {
    const date = new Date(`${day}T00:00:00Z`);
    date.setUTCDate(date.getUTCDate() - ((date.getUTCDay() + 6) % 7));
    return date.toISOString().slice(0, 10);
  }
  if (dimension.startsWith("tag:")) return fromTagList(line.tags)[dimension.slice(4)] ?? null;
  return line[dimension as "project"] ?? null;
}
