import type { Fixtures, KeyOptions } from "@/tests/helpers/keys";
import { type ExactClient, exactClient } from "./client";
import { type KeyName, keyOptions, prices } from "./requests";

/** The budgets of a sequence's workspace: name, scope, value, amount. `key` and `project` are replaced by an id. */
export const budgets = [
  ["everything", "global", null, "1000"],
  ["alpha", "project", "alpha", "0.7"],
  ["chat", "feature", "chat", "3"],
  ["acme", "provider", "acme", "12.345678901234567891"],
  ["a key", "key", "limited", "25"],
] as const;

/** Creates a workspace with the keys, prices and budgets of the model, and a client for each key. */
export async function setUpWorkspace(fixtures: Fixtures, baseUrl: string) {
  const id = await fixtures.workspace();
  const alpha = await fixtures.project(id, "alpha");
  await fixtures.sql.query(
    `insert into public.prices (workspace_id, provider, model, unit_type, rate, starts_at)
     select $1, p ->> 0, p ->> 1, p ->> 2, (p ->> 3)::numeric, (p ->> 4)::timestamptz from jsonb_array_elements($2) as p`,
    [id, JSON.stringify(prices)],
  );
  const made = await Promise.all(
    Object.entries(keyOptions).map(async ([name, options]: [string, KeyOptions]) => {
      const key = await fixtures.key(id, { ...options, ...(name === "bound" && { project_id: alpha }) });
      return [name, key] as const;
    }),
  );
  const keyIds = Object.fromEntries(made.map(([name, key]) => [name, key.id])) as Record<KeyName, string>;
  const rows = budgets.map(([name, scope, value, amount]) => {
    const of = scope === "project" ? alpha : scope === "key" ? keyIds.limited : value;
    return [name, scope, of, amount];
  });
  await fixtures.sql.query(
    `insert into public.budgets (workspace_id, name, scope_type, scope_value, amount)
     select $1, b ->> 0, b ->> 1, b ->> 2, (b ->> 3)::numeric from jsonb_array_elements($2) as b`,
    [id, JSON.stringify(rows)],
  );
  const clients = Object.fromEntries(made.map(([name, { secret }]) => [name, exactClient(baseUrl, secret)]));
  return { id, clients: clients as Record<KeyName, ExactClient> };
}

export type SequenceWorkspace = Awaited<ReturnType<typeof setUpWorkspace>>;
