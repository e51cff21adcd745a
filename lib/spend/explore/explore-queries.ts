import type { ClientBase } from "pg";
import { isCalendar, type SpendDimension, type SpendMeasure } from "@/lib/contract/spend/spend-query";
import { bigint, date, integer, nullable, numeric, type Row, text } from "@/lib/db/columns";
import { selectAll, selectFirst, selectOne } from "@/lib/db/query";
import { empty, type Sql, sql } from "@/lib/db/sql";
import type { Display } from "@/lib/ledger/pricing/display-currency";
import { providerKey, shownProvider } from "@/lib/spend/activity/filters";
import { convertedSum } from "@/lib/spend/conversion";
import { type ExploreScope, environmentsOf, linesWithin, type SourceKind, sourceOf } from "./sources";

const cell = {
  /** The place of the row among the highest, from 1; null for the rest. `row_value` is empty for spend without a value. */
  row_place: nullable(integer()),
  row_value: nullable(text()),
  column_place: nullable(integer()),
  column_value: nullable(text()),
  /** Without trailing zeros, so that the answer uses the text unchanged. */
  cost: numeric(),
  messages: numeric(),
  tokens: nullable(numeric()),
  token_cost: nullable(numeric()),
  /** Both costs in another currency, each day converted at its rate; null if the query names none. */
  converted_cost: nullable(numeric()),
  converted_token_cost: nullable(numeric()),
};

/** The counts of the whole query. The first row has them and no cell; they are null in the rows of cells. */
const counts = {
  row_count: nullable(bigint()),
  column_count: nullable(bigint()),
  read_count: nullable(numeric()),
};

/** The sums of one cell. Amounts are USD as exact text. */
export type CellRow = Row<typeof cell>;

/** The cells of a query, how many values its rows and its columns have in all, and how many rows of the source were read. */
export type Cells = { cells: CellRow[]; rowCount: number; columnCount: number; readCount: number };

/** How cells are made: from which source, grouped by what, and how many values are listed. */
export type CellsScope = {
  kind: SourceKind;
  groupBy: SpendDimension[];
  measure: SpendMeasure;
  top: number;
  /** The values to list as rows instead of the highest; null for spend without a value. */
  listed?: (string | null)[] | undefined;
  /** The most rows of the source that are read. If `read_count` is more, the sums are incomplete. */
  maxRows: number;
  /** A second currency for costs, with the rates of the days that are read. */
  display?: Display | undefined;
};

/** By measure, the expression that decides which values are the highest. */
const rankings: Record<SpendMeasure, Sql> = {
  cost: sql`abs(sum(cost))`,
  messages: sql`sum(messages)`,
  tokens: sql`coalesce(sum(tokens), 0)`,
  cost_per_message: sql`abs(sum(cost))`,
  cost_per_million_tokens: sql`coalesce(sum(token_cost), 0)`,
};

/** Reads the cells of a query: one for each listed row value and column value, and for the rest of both. */
export async function selectCells(
  client: ClientBase,
  scope: ExploreScope,
  { kind, groupBy, measure, top, listed, maxRows, display }: CellsScope,
): Promise<Cells> {
  const [first, second] = groupBy;
  const source = sourceOf(kind, groupBy, scope);
  const none = sql`null::numeric`;
  const hasTokens = kind === "ledger";
  const converted = (amount: Sql) => (display ? convertedSum(display, amount, sql`s.day`) : none);
  // A sum that is not needed would be computed again for each cell.
  const sumOf = (column: Sql, isWanted: boolean) => (isWanted ? sql`sum(${column})` : none);
  const namesOf = (dimension: SpendDimension | undefined) =>
    dimension === undefined ? sql`''::text` : source.column(dimension);
  const spellingOf = (dimension: SpendDimension | undefined) =>
    (dimension && source.spelling(dimension)) ?? sql`null::text`;
  const chosen = chosenValues(scope.workspaceId, first, listed ?? []);
  const row = sideOf(
    first,
    { value: sql`row_value`, shown: sql`row_shown`, ranks: sql`row_ranks` },
    {
      order: rankings[measure],
      isListed: listed ? sql`row_ranks.value = any(${chosen})` : sql`row_ranks.place <= ${top}`,
      isFirst: listed && sql`row_value = any(${chosen}) desc,`,
    },
  );
  const column = sideOf(
    second,
    { value: sql`column_value`, shown: sql`column_shown`, ranks: sql`column_ranks` },
    {
      order: rankings[measure],
      isListed: sql`column_ranks.place <= ${top}`,
    },
  );
  const [counted, ...cells] = await selectAll(
    client,
    { ...cell, ...counts },
    // Sums by the stored columns and converts the values to text afterwards, because there are far fewer sums than rows. The limited
    // subquery selects only the columns that are summed.
    sql`with cells as materialized (
       select ${asText(sql`first`, first)} as row_value, ${asText(sql`second`, second)} as column_value,
         ${shownProvider(sql`first_spelling`)} as row_shown, ${shownProvider(sql`second_spelling`)} as column_shown,
         sum(s.cost) as cost, sum(s.messages) as messages, ${sumOf(sql`s.tokens`, hasTokens)} as tokens,
         ${sumOf(sql`s.token_cost`, hasTokens)} as token_cost, ${converted(sql`s.cost`)} as converted_cost,
         ${hasTokens ? converted(sql`s.token_cost`) : none} as converted_token_cost, count(*) as read
       from (
         select ${namesOf(first)} as first, ${namesOf(second)} as second, ${spellingOf(first)} as first_spelling,
           ${spellingOf(second)} as second_spelling, s.cost, s.messages
           ${hasTokens ? sql`, s.tokens, s.token_cost` : empty} ${display ? sql`, s.day` : empty}
         from (${source.rows}) as s
         limit ${maxRows + 1}
       ) as s
       group by first, second
     ), named as not materialized (
       select * from cells
       where cost <> 0 or messages <> 0 or tokens <> 0 ${display ? sql`or converted_cost <> 0` : empty}
     ) ${row.ranks} ${column.ranks}, listed as (
       select ${row.key} as row_key, ${column.key} as column_key,
         sum(cost) as cost, sum(messages) as messages, ${sumOf(sql`tokens`, hasTokens)} as tokens,
         ${sumOf(sql`token_cost`, hasTokens)} as token_cost,
         ${sumOf(sql`converted_cost`, display !== undefined)} as converted_cost,
         ${sumOf(sql`converted_token_cost`, display !== undefined && hasTokens)} as converted_token_cost
       from named ${row.ranked} ${column.ranked}
       group by 1, 2
     )
     select null::integer as row_place, null::text as row_value, null::integer as column_place, null::text as column_value,
       0::numeric as cost, 0::numeric as messages, null::numeric as tokens, null::numeric as token_cost,
       null::numeric as converted_cost, null::numeric as converted_token_cost,
       ${row.count} as row_count, ${column.count} as column_count, (select sum(read) from cells) as read_count
     union all
     select ${row.place(sql`row_key`)}, ${row.value(sql`row_key`)}, ${column.place(sql`column_key`)}, ${column.value(sql`column_key`)},
       trim_scale(cost), messages, tokens, token_cost, trim_scale(converted_cost), converted_token_cost, null, null, null
     from listed ${row.shown(sql`row_key`)} ${column.shown(sql`column_key`)}`,
  );
  return {
    cells,
    rowCount: Number(counted?.row_count ?? 0),
    columnCount: Number(counted?.column_count ?? 0),
    readCount: Number(counted?.read_count ?? 0),
  };
}

/** The parts of the statement for the rows or the columns of its cells. */
type Side = {
  /** The ranks of the side's values, a common table expression. */
  ranks: Sql;
  /** The expression that cells are grouped by, and the join that it needs. */
  key: Sql;
  ranked: Sql;
  /** The place and the value in the answer for a key, and the join that they need. */
  place: (key: Sql) => Sql;
  value: (key: Sql) => Sql;
  shown: (key: Sql) => Sql;
  count: Sql;
};

/**
 * Makes the SQL of one side: the listed values by their places, and the rest. Days, weeks and months are all listed, so they need no
 * ranks; the answer has their first days as text.
 * @param names the columns of the value and of its spelling, and the name of the ranks
 * @param by the order of the places, the condition for a listed rank, and which values come before all others
 */
function sideOf(
  dimension: SpendDimension | undefined,
  { value, shown, ranks }: { value: Sql; shown: Sql; ranks: Sql },
  { order, isListed, isFirst = empty }: { order: Sql; isListed: Sql; isFirst?: Sql | undefined },
): Side {
  if (dimension === undefined || isCalendar(dimension))
    return {
      ranks: empty,
      key: value,
      ranked: empty,
      place: () => sql`null::integer`,
      value: (key) => sql`${key}::text`,
      shown: () => empty,
      count: sql`0::bigint`,
    };
  return {
    ranks: sql`, ${ranks} as materialized (
      select ${value} as value, coalesce(${shownProvider(shown)}, ${value}) as shown, row_number() over (order by ${isFirst} ${order} desc, ${value} collate "C")::integer as place
      from named group by ${value})`,
    key: sql`case when ${isListed} then ${ranks}.place end`,
    ranked: sql`join ${ranks} on ${ranks}.value = ${value}`,
    place: (key) => key,
    value: () => sql`${ranks}.shown`,
    shown: (key) => sql`left join ${ranks} on ${ranks}.place = ${key}`,
    count: sql`(select count(*) from ${ranks})`,
  };
}

/** Converts row values of an answer to those of cells: slugs of projects to ids, names of providers to their compared form. */
function chosenValues(
  workspaceId: string,
  dimension: SpendDimension | undefined,
  values: (string | null)[],
): Sql {
  const names = values.map((value) => value ?? "");
  if (dimension === "provider")
    return sql`array(select ${providerKey(sql`name`)} from unnest(${names}::text[]) as name)`;
  return dimension === "project"
    ? sql`array(select id::text from public.projects where workspace_id = ${workspaceId} and slug = any(${names}::text[]))`
    : sql`${names}::text[]`;
}

/** A value as text, empty if it is null. Days stay dates and are converted to text only in the answer (`Side.value`). */
function asText(value: Sql, dimension: SpendDimension | undefined): Sql {
  return isCalendar(dimension) ? value : sql`coalesce(${value}::text, '')`;
}

/** The first day up to `to` with a cost or a message; null if there is none. */
export async function selectFirstDay(
  client: ClientBase,
  { workspaceId, environment, to }: Pick<ExploreScope, "workspaceId" | "environment"> & { to: string },
): Promise<string | null> {
  // The totals by provider include all spend, and their index is ordered by day.
  const row = await selectFirst(
    client,
    { day: date() },
    sql`select first.day
      from unnest(${environmentsOf(environment)}::text[]) as e (environment)
      cross join lateral (
        select day from public.daily_totals as t
        where t.workspace_id = ${workspaceId} and t.environment = e.environment and t.dimension = 'provider'
          and day <= ${to} and (amount_usd <> 0 or message_count <> 0)
        order by day
        limit 1
      ) as first
      order by first.day
      limit 1`,
  );
  return row?.day ?? null;
}

/** How many lines of the ledger a query reads at most. */
export async function countLines(client: ClientBase, scope: ExploreScope): Promise<number> {
  const { lines } = await selectOne(client, { lines: numeric() }, linesWithin(scope));
  return Number(lines);
}

const projectName = { id: text(), slug: text(), name: text() };

/** The slugs and names of projects. @param ids as text */
export function selectProjectNames(
  client: ClientBase,
  workspaceId: string,
  ids: string[],
): Promise<Row<typeof projectName>[]> {
  return selectAll(
    client,
    projectName,
    sql`select id::text as id, slug, name from public.projects where workspace_id = ${workspaceId} and id = any(${ids}::uuid[])`,
  );
}

const keyName = { id: text(), name: text() };

/** The names of API keys, which members may read. @param ids as text */
export function selectKeyNames(
  client: ClientBase,
  workspaceId: string,
  ids: string[],
): Promise<Row<typeof keyName>[]> {
  return selectAll(
    client,
    keyName,
    sql`select id::text as id, name from public.api_keys where workspace_id = ${workspaceId} and id = any(${ids}::uuid[])`,
  );
}

/** The most names of tags that are offered. */
const maxTagNames = 50;

/** The names of a workspace's tags of the last year, most used first. */
export async function selectTagNames(client: ClientBase, workspaceId: string): Promise<string[]> {
  const rows = await selectAll(
    client,
    { name: text() },
    sql`select split_part(value, ':', 1) as name
      from public.daily_totals
      where workspace_id = ${workspaceId} and environment in ('live', 'test') and dimension = 'tag'
        and day > (now() at time zone 'UTC')::date - 366
      group by 1
      order by sum(message_count) desc, 1
      limit ${maxTagNames}`,
  );
  return rows.map(({ name }) => name);
}
