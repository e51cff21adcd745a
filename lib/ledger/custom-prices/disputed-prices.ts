import type { ClientBase } from "pg";
import type { Membership } from "@/lib/contract/access/me";
import { dayOf, toInstant } from "@/lib/contract/values/instant";
import { deadlines } from "@/lib/db/deadlines";
import { asKey, asService, type KeyClaims } from "@/lib/db/transaction";
import { selectClosedUntil } from "@/lib/ledger/closing/closing-queries";
import { firstOpenInstant } from "@/lib/ledger/days";
import { type Dispute, findDisputes } from "@/lib/ledger/pricing/disputes";
import type { PriceOverride } from "@/lib/ledger/pricing/price-message";
import { unitName } from "@/lib/ledger/pricing/units";
import { presentPrices } from "@/lib/ledger/pricing/workspace-prices";
import { followPublished } from "@/lib/ledger/published/follow";
import {
  insertRepricing,
  lockPrices,
  type PriceRow,
  selectPrices,
  selectUsedModels,
  upsertPrice,
} from "./custom-price-queries";

/** What tells for which usage a workspace's own price holds. */
type OwnPrice = Pick<PriceOverride, "provider" | "model" | "unitType" | "startsAt">;

/** A stored price as `findOpenDisputes` takes it. */
export const toOwnPrice = ({ provider, model, unit_type: unitType, starts_at: startsAt }: PriceRow) => ({
  ...{ provider, model, unitType, startsAt },
});

/** A model as messages name it. */
type NamedModel = { provider: string; model: string };

/**
 * The disputed prices of models, without those for which the workspace has a price of its own.
 * @param prices the workspace's own
 * @param now milliseconds since 1970
 */
export function findOpenDisputes<Model extends NamedModel>(
  models: readonly Model[],
  prices: readonly OwnPrice[],
  now: number,
): (Model & Dispute)[] {
  return models.flatMap((model) =>
    findDisputes(model.provider, model.model)
      .filter(({ unitType }) => !prices.some((price) => holdsFor(price, { ...model, unitType }, now)))
      .map((dispute) => ({ ...model, ...dispute })),
  );
}

/** Reads the disputed prices of the models that a workspace used lately, for a job. @param reader reads all of its live spend */
export async function readOpenDisputes(reader: KeyClaims, now: number): Promise<(NamedModel & Dispute)[]> {
  const { workspace_id: id } = reader;
  const used = await asKey(reader, (client) => selectUsedModels(client, id, dayOf(now)), deadlines.job);
  const prices = await asService((client) => presentPrices(client, id));
  return findOpenDisputes(used, prices, now);
}

/**
 * Reads the disputed prices of a model in the transaction of a member. Until it ends, no other transaction sets a price of the workspace.
 * @param now milliseconds since 1970
 */
export async function lockOpenDisputes(
  client: ClientBase,
  workspaceId: string,
  model: NamedModel,
  now: number,
): Promise<Dispute[]> {
  await followPublished();
  await lockPrices(client, workspaceId);
  return findOpenDisputes([model], (await selectPrices(client, workspaceId)).map(toOwnPrice), now);
}

/**
 * Sets the prices of a model's units, and requests the correction of what was recorded since they start, in the transaction of an admin.
 * @param prices.rates USD for one unit each, exact text
 * @param prices.startsAt milliseconds since 1970
 */
export async function settlePrices(
  client: ClientBase,
  { id: workspaceId, time_zone: timeZone }: Pick<Membership, "id" | "time_zone">,
  prices: {
    provider: string;
    model: string;
    rates: { unitType: string; rate: string }[];
    startsAt: number;
  },
): Promise<void> {
  const { provider, model } = prices;
  const startsAt = toInstant(prices.startsAt);
  for (const { unitType, rate } of prices.rates)
    await upsertPrice(client, { workspaceId, provider, model, unitType, rate, startsAt });
  const closedUntil = await selectClosedUntil(client, workspaceId);
  const from = toInstant(Math.max(prices.startsAt, firstOpenInstant(timeZone, closedUntil)));
  await insertRepricing(client, { workspaceId, provider, from, to: null, includesPriced: true });
}

const fold = (text: string) => text.trim().toLowerCase();

function holdsFor(
  { provider, model, unitType, startsAt }: OwnPrice,
  usage: NamedModel & { unitType: string },
  now: number,
): boolean {
  return (
    fold(provider) === fold(usage.provider) &&
    (model === null || fold(model) === fold(usage.model)) &&
    unitName(unitType) === usage.unitType &&
    startsAt.getTime() <= now
  );
}
