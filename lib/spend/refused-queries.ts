import type { ClientBase } from "pg";
import type { DayRange } from "@/lib/contract/values/month";
import { neverNull, numeric, type Row, uuid } from "@/lib/db/columns";
import { selectAll, selectOne } from "@/lib/db/query";
import { empty, sql } from "@/lib/db/sql";
import { condition, providerCondition } from "./activity/filters";
import type { SpendScope } from "./metrics/rows-sql";

const refused = { usd: numeric(), messages: numeric() };

/** Whether refused spend can be read with these filters: it is kept by project, key, provider and model. */
export function isRefusedKnown({ filters }: Pick<SpendScope, "filters">): boolean {
  const { type, feature, user, tag, source } = filters;
  return [type, feature, user, tag, source].every((filter) => filter === undefined);
}

/** The costs that limits refused to record on some days, USD as exact text, and the number of their messages. */
export function selectRefused(
  client: ClientBase,
  { workspaceId, filters: { project, key, provider, model, environment } }: SpendScope,
  { from, until }: DayRange,
): Promise<Row<typeof refused>> {
  return selectOne(
    client,
    refused,
    sql`select trim_scale(coalesce(sum(amount_usd), 0)) as usd, coalesce(sum(message_count), 0) as messages
      from public.refused_spend
      where workspace_id = ${workspaceId} and day >= ${from} and day < ${until}
        ${condition(sql`environment`, environment)}${condition(sql`project`, project)}${condition(sql`api_key_id`, key)}
        ${providerCondition(sql`provider`, provider)}${condition(sql`model`, model)}`,
  );
}

// Postgres describes every column of a view as nullable.
const ofBudget = { id: neverNull(uuid()), usd: neverNull(numeric()) };

/**
 * The live costs in each budget's scope that limits refused in its present period, USD as exact text. There are no rows if nothing
 * was refused in the workspace.
 * @param id only this budget
 */
export function selectRefusedOfBudgets(
  client: ClientBase,
  workspaceId: string,
  id?: string,
): Promise<Row<typeof ofBudget>[]> {
  return selectAll(
    client,
    ofBudget,
    sql`select budget_id as id, trim_scale(refused_usd) as usd from public.budget_refusals
      where workspace_id = ${workspaceId} ${id === undefined ? empty : sql`and budget_id = ${id}`}`,
  );
}
