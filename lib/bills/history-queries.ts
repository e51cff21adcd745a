import type { ClientBase } from "pg";
import { boolean, date, neverNull, text } from "@/lib/db/columns";
import { selectAll } from "@/lib/db/query";
import { sql } from "@/lib/db/sql";

const recordedDay = {
  provider: neverNull(text()),
  day: neverNull(date()),
  is_of_month: neverNull(boolean()),
};

/** A day on which costs of a provider were recorded. `is_of_month`: an expense or a subscription, which may be for the whole month. */
export type RecordedDay = { provider: string; day: string; is_of_month: boolean };

/**
 * The days of a workspace, from one to before another, on which live costs of providers were recorded. A record of a closed month also has the
 * day when the cost occurred.
 */
export function selectRecordedDays(
  client: ClientBase,
  workspaceId: string,
  from: string,
  until: string,
): Promise<RecordedDay[]> {
  return selectAll(
    client,
    recordedDay,
    sql`select provider, day, bool_or(type in ('expense', 'subscription')) as is_of_month
      from (
        select value as provider, day, type from public.daily_totals
        where workspace_id = ${workspaceId} and environment = 'live' and dimension = 'provider' and type <> 'allocation'
          and day >= ${from} and day < ${until}
        union all
        select provider, (adjusts at time zone 'UTC')::date, type from public.messages
        where workspace_id = ${workspaceId} and environment = 'live' and type <> 'allocation'
          and adjusts >= ${from}::timestamp at time zone 'UTC' and adjusts < ${until}::timestamp at time zone 'UTC'
      ) as recorded
      where provider is not null
      group by 1, 2`,
  );
}

const firstDay = { provider: neverNull(text()), day: neverNull(date()) };

/** The first day on which live costs of each provider were recorded. */
export function selectFirstDays(client: ClientBase, workspaceId: string) {
  return selectAll(
    client,
    firstDay,
    sql`select value as provider, min(day) as day from public.daily_totals
      where workspace_id = ${workspaceId} and environment = 'live' and dimension = 'provider' and type <> 'allocation'
        and value is not null
      group by 1`,
  );
}
