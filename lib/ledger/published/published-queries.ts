import type { Provider } from "@pydantic/genai-prices";
import type { ClientBase } from "pg";
import { nullable, type Row, text, timestamp, uuid } from "@/lib/db/columns";
import { callFunction, selectAll } from "@/lib/db/query";
import { sql } from "@/lib/db/sql";

export type FeedKind = "rates" | "prices";

/**
 * The result of `private.load_published`. `rates`: currency → USD for one unit. `held`: the values that wait for the operator, in the
 * same form for rates, and by `provider/model` for prices.
 */
export type Published = {
  revision: number;
  rates: { source: string; day: string; rates: Record<string, string>; held: Record<string, string> }[];
  prices: { day: string; providers: Provider[]; held: Record<string, Provider["models"][number]> } | null;
};

/** A day to store. */
export type PublishedDay = { day: string; content: unknown; held: Record<string, unknown> };

/** The data that was stored after a revision, with prices for this build's version of the catalogue; null if there is none. */
export function loadPublished(
  client: ClientBase,
  after: number,
  catalogue: string,
): Promise<Published | null> {
  return callFunction(client, "private.load_published", after, catalogue);
}

/** @returns how many days are new or changed */
export function storePublished(
  client: ClientBase,
  kind: FeedKind,
  source: string,
  days: PublishedDay[],
): Promise<number> {
  return callFunction(client, "private.store_published", kind, source, JSON.stringify(days));
}

const unpricedRow = {
  workspace_id: uuid(),
  provider: text(),
  model: nullable(text()),
  unit_type: text(),
  service_tier: nullable(text()),
  first_at: timestamp(),
  last_at: timestamp(),
};

/** The usage without a price of one model, unit and service tier in a workspace, with its first and last instant. */
export type UnpricedUsage = Row<typeof unpricedRow>;

/** The usage without a price, of all workspaces: 50,000 rows at most. */
export function selectUnpricedUsage(client: ClientBase): Promise<UnpricedUsage[]> {
  return selectAll(
    client,
    unpricedRow,
    sql`select workspace_id, provider, model, unit_type, service_tier, first_at, last_at from private.unpriced_usage()`,
  );
}
