import type { ClientBase } from "pg";
import type { SubjectDimension } from "@/lib/contract/spend/subjects";
import type { DayRange } from "@/lib/contract/values/month";
import { bigint, neverNull, nullable, numeric, type Row, text } from "@/lib/db/columns";
import { selectAll } from "@/lib/db/query";
import { join, type Sql, sql } from "@/lib/db/sql";
import type { Display } from "@/lib/ledger/pricing/display-currency";
import { convertedAt } from "@/lib/spend/conversion";
import { type CutDayOf, rowsOfCutDay } from "@/lib/spend/cut-day";
import { rowsOfTotals } from "@/lib/spend/folded-days";
import { columnOf } from "@/lib/spend/metrics/rows-sql";

const subjectRow = {
  value: neverNull(text()),
  name: neverNull(text()),
  spent: numeric(),
  messages: numeric(),
  /** Lines without a price. */
  unpriced: numeric(),
  before: numeric(),
  /** Both amounts in another currency, each day converted at its rate; null if none is requested. */
  converted_spent: nullable(numeric()),
  converted_before: nullable(numeric()),
  /** The number of subjects in all, including those that are not listed. */
  found: bigint(),
};

/** What one person, key, model, feature, tag or project cost. Amounts are USD as exact text. */
export type SubjectRow = Row<typeof subjectRow>;

/** The spend to list: that of the days `spent` and, to compare, of the days `before`; undefined to compare with nothing. */
export type SubjectScope = {
  workspaceId: string;
  environment: "live" | "test";
  dimension: SubjectDimension;
  spent: DayRange;
  before: DayRange | undefined;
  /** A day of which a part is compared, too. */
  cut: CutDayOf | undefined;
  /** The day before which sums are folded; null if none are. */
  foldedUntil: string | null;
  /** A second currency for amounts. */
  display?: Display | undefined;
};

/** What each value of a dimension cost, the highest spend first. @param atMost the most values to return */
export function selectSubjects(
  client: ClientBase,
  { workspaceId, environment, dimension, spent, before, cut, foldedUntil, display }: SubjectScope,
  atMost: number,
): Promise<SubjectRow[]> {
  // With a currency, each day is converted at its own rate.
  const folded = display ? null : foldedUntil;
  const rowsOf = (range: DayRange, part: Sql) =>
    rowsOfTotals(
      range,
      folded,
      ({ name, day }, { from, until }) => sql`
        select value, amount_usd, message_count, unpriced_count, ${day} as day, ${part} as part from ${name}
        where workspace_id = ${workspaceId} and environment = ${environment} and dimension = ${dimension}
          and value is not null and ${day} >= ${from} and ${day} < ${until}`,
    );
  const rows = join(
    [
      rowsOf(spent, sql`'spent'`),
      ...(before ? [rowsOf(before, sql`'before'`)] : []),
      ...(cut ? [rowsOfCut(cut, dimension)] : []),
    ],
    " union all ",
  );
  const sumOf = (amount: Sql, part: Sql) =>
    sql`trim_scale(coalesce(sum(${amount}) filter (where part = ${part}), 0))`;
  const convertedOf = (part: Sql) =>
    display ? sumOf(convertedAt(display, sql`amount_usd`, sql`day`), part) : sql`null::numeric`;
  const named =
    dimension === "key"
      ? { name: sql`coalesce(named.name, s.value)`, value: sql`s.value`, table: sql`public.api_keys` }
      : dimension === "project"
        ? {
            name: sql`coalesce(named.name, s.value)`,
            value: sql`coalesce(named.slug, s.value)`,
            table: sql`public.projects`,
          }
        : undefined;
  return selectAll(
    client,
    subjectRow,
    sql`select ${named?.value ?? sql`s.value`} as value, ${named?.name ?? sql`s.value`} as name, s.spent, s.messages, s.unpriced, s.before,
        s.converted_spent, s.converted_before, s.found
      from (
        select *, count(*) over () as found
        from (
          select value, ${sumOf(sql`amount_usd`, sql`'spent'`)} as spent,
            coalesce(sum(message_count) filter (where part = 'spent'), 0) as messages,
            coalesce(sum(unpriced_count) filter (where part = 'spent'), 0) as unpriced,
            ${sumOf(sql`amount_usd`, sql`'before'`)} as before,
            ${convertedOf(sql`'spent'`)} as converted_spent,
            ${convertedOf(sql`'before'`)} as converted_before
          from (${rows}) as totals
          group by value
        ) as sums
        where spent <> 0 or messages <> 0 or before <> 0
        order by abs(spent) desc, value collate "C"
        limit ${atMost}
      ) as s
      ${named ? sql`left join ${named.table} as named on named.workspace_id = ${workspaceId} and named.id::text = s.value` : sql``}
      order by abs(s.spent) desc, s.value collate "C"`,
  );
}

/** The rows of a cut day before its instant, with the value of a dimension. */
function rowsOfCut(cut: CutDayOf, dimension: SubjectDimension): Sql {
  const value =
    dimension === "tag"
      ? { column: sql`tag.value`, join: sql`cross join lateral unnest(cut.tags) as tag (value)` }
      : { column: sql`cut.${columnOf[dimension]}::text`, join: sql`` };
  return sql`
    select ${value.column} as value, cut.amount_usd, cut.message_count, 0 as unpriced_count, cut.day, 'before' as part
    from (${rowsOfCutDay(cut)}) as cut ${value.join}
    where ${value.column} is not null`;
}
