import type { ClientBase } from "pg";
import { numeric } from "@/lib/db/columns";
import { selectOne } from "@/lib/db/query";
import { type Sql, sql } from "@/lib/db/sql";
import { isOnDays } from "@/lib/ledger/days";
import { countOf, isListed, postingsOf } from "./listed-postings";
import { addDays, type CutDay } from "./period";

const dayMs = 86_400_000;

/** The most lines of a day that are read one by one, which takes about 30 ms. */
const maxLines = 10_000;

/** A cut day of a workspace. `isEstimate`: it has too many lines to read, so its sums are scaled to the part that has passed. */
export type CutDayOf = CutDay & {
  workspaceId: string;
  environments: readonly ("live" | "test")[];
  timeZone: string;
  isEstimate: boolean;
};

/** Decides how a cut day is read, for members, in the caller's transaction. */
export async function loadCutDay(
  client: ClientBase,
  workspaceId: string,
  environments: CutDayOf["environments"],
  cut: CutDay,
  timeZone: string,
): Promise<CutDayOf> {
  const { lines } = await selectOne(
    client,
    { lines: numeric() },
    sql`select coalesce(sum(abs(item_count)), 0) as lines from public.daily_spend
      where workspace_id = ${workspaceId} and day = ${cut.day} and environment = any(${environments}::text[])`,
  );
  return { ...cut, workspaceId, environments, timeZone, isEstimate: Number(lines) > maxLines };
}

/**
 * What was recorded on a cut day before its instant: rows with the columns of `daily_spend`, possibly several with the same
 * names. An estimate has amounts of up to 24 decimals and rounded counts.
 */
export function rowsOfCutDay({ workspaceId, environments, timeZone, day, at, isEstimate }: CutDayOf): Sql {
  if (isEstimate) {
    const part = sql`${((at - Date.parse(day)) / dayMs).toFixed(6)}::numeric`;
    return sql`
      select day, project_id, api_key_id, type, provider, model, feature, source, environment, end_user, tags,
        amount_usd * ${part} as amount_usd, round(message_count * ${part})::bigint as message_count,
        round(item_count * ${part})::bigint as item_count
      from public.daily_spend
      where workspace_id = ${workspaceId} and day = ${day} and environment = any(${environments}::text[])`;
  }
  const within = (occurredAt: Sql) =>
    isOnDays(occurredAt, { timeZone, from: day, until: addDays(day, 1) }, at);
  const count = countOf(sql`m`);
  return sql`
    select ${day}::date as day, m.project_id, m.api_key_id, m.type, m.provider, p.model, p.feature, m.source, m.environment,
      p.end_user, m.tags, p.amount_usd, case when p.part = 0 then ${count} else 0 end as message_count,
      ${count} as item_count
    from public.messages as m
    cross join lateral (${postingsOf(workspaceId, within)}) as p
    where m.workspace_id = ${workspaceId} and ${within(sql`m.occurred_at`)}
      and m.environment = any(${environments}::text[]) and ${isListed}`;
}
