import type { Provider } from "@pydantic/genai-prices";
import type { ClientBase } from "pg";
import { date, json, nullable, type Row, text, timestamp } from "@/lib/db/columns";
import { withMaintenanceClient } from "@/lib/db/maintenance";
import { selectAll } from "@/lib/db/query";
import { sql } from "@/lib/db/sql";
import { catalogueVersion } from "@/lib/ledger/pricing/price-table";
import { type FeedKind, type Published, storePublished } from "./published-queries";

const feedRow = {
  kind: text<FeedKind>(),
  tried_at: timestamp(),
  failed_since: nullable(timestamp()),
  failure: nullable(text()),
};
const dayRow = {
  source: text(),
  day: date(),
  content: json<unknown>(),
  held: json<Record<string, unknown>>(),
};
type StoredDay = Row<typeof dayRow>;

/** The state of the feeds: the last attempt, the latest day of each source, and the held values with their days. */
export type FeedStates = {
  feeds: Row<typeof feedRow>[];
  latest: { kind: FeedKind; source: string; day: string }[];
  held: { kind: FeedKind; item: string; days: string[]; value: unknown }[];
};

/** The stored days, in order; for prices, only those for this build's version of the catalogue. */
function selectDays(client: ClientBase, kind: FeedKind): Promise<StoredDay[]> {
  return selectAll(
    client,
    dayRow,
    sql`select source, day, content, held from private.published_data
      where kind = ${kind} and (kind = 'rates' or source = ${catalogueVersion}) order by day, source`,
  );
}

/** The stored days that are in use: all days of rates, and the latest day of prices. */
async function selectCounting(client: ClientBase, kind: FeedKind): Promise<StoredDay[]> {
  const days = await selectDays(client, kind);
  return kind === "rates" ? days : days.slice(-1);
}

/** Reads the state of the feeds, for the operator. */
export function readFeeds(): Promise<FeedStates> {
  return withMaintenanceClient(async (client) => {
    const feeds = await selectAll(
      client,
      feedRow,
      sql`select kind, tried_at, failed_since, failure from private.feeds order by kind desc`,
    );
    const latest: FeedStates["latest"] = [];
    const held = new Map<string, FeedStates["held"][number]>();
    for (const kind of ["rates", "prices"] as const) {
      const days = await selectCounting(client, kind);
      for (const { source, day } of days.toReversed())
        if (!latest.some((each) => each.source === source)) latest.push({ kind, source, day });
      for (const { day, held: items } of days)
        for (const [item, value] of Object.entries(items))
          held.set(item, { kind, item, days: [...(held.get(item)?.days ?? []), day], value });
    }
    return { feeds, latest, held: [...held.values()] };
  });
}

/**
 * Accepts the held rates of a currency, on every day, or the held prices of a model, from now on.
 * @param item a currency (`ARS`), or `provider/model`
 * @returns how many days changed; 0 if nothing is held for the item
 */
export function acceptHeld(item: string): Promise<number> {
  return withMaintenanceClient(async (client) => {
    let changed = 0;
    for (const kind of ["rates", "prices"] as const) {
      for (const { source, day, content, held } of await selectCounting(client, kind)) {
        const { [item]: value, ...rest } = held;
        if (value === undefined) continue;
        const accepted =
          kind === "rates"
            ? { ...(content as object), [item]: value }
            : withModel(content as Provider[], item, value as Model);
        changed += await storePublished(client, kind, source, [{ day, content: accepted, held: rest }]);
      }
    }
    return changed;
  });
}

type Model = NonNullable<Published["prices"]>["held"][string];

/** Replaces a provider's model with the same id, or adds the model. */
function withModel(providers: Provider[], item: string, model: Model): Provider[] {
  return providers.map((provider) => {
    if (`${provider.id}/${model.id}` !== item) return provider;
    const isListed = provider.models.some(({ id }) => id === model.id);
    return {
      ...provider,
      models: isListed
        ? provider.models.map((each) => (each.id === model.id ? model : each))
        : [...provider.models, model],
    };
  });
}
