import type { ClientBase } from "pg";
import type { z } from "zod";
import { requireMembership } from "@/lib/access/workspaces/membership";
import type { Membership } from "@/lib/contract/access/me";
import type { priceList, SetPriceRequest, setPriceResult, unpricedList } from "@/lib/contract/ledger/prices";
import { ExactNumber } from "@/lib/contract/values/exact-number";
import { dayOf, toInstant } from "@/lib/contract/values/instant";
import { asUser, asUserReading, type UserClaims } from "@/lib/db/transaction";
import { parseDecimal, toText } from "@/lib/decimal";
import { validationFailed } from "@/lib/errors";
import { selectClosedUntil } from "@/lib/ledger/closing/closing-queries";
import { firstOpenInstant } from "@/lib/ledger/days";
import type { Offer } from "@/lib/ledger/pricing/disputes";
import { followPublished } from "@/lib/ledger/published/follow";
import {
  insertRepricing,
  lockPrices,
  type PriceRow,
  type RepricingRow,
  selectPrices,
  selectRepricings,
  selectUnpriced,
  selectUsedModels,
  upsertPrice,
} from "./custom-price-queries";
import { findOpenDisputes, toOwnPrice } from "./disputed-prices";

/** How many corrections are listed with the prices. */
const maxRepricings = 20;

/** Lists a workspace's own prices and its latest corrections, for its members. @throws ServiceError not_found */
export function listPrices(claims: UserClaims, slug: string): Promise<z.output<typeof priceList>> {
  return asUserReading(claims, async (client, now) => {
    const { id } = await requireMembership(client, claims, slug);
    return loadPrices(client, id, now);
  });
}

/** Like `listPrices`, in the caller's transaction. @param now milliseconds since 1970 */
export async function loadPrices(
  client: ClientBase,
  workspaceId: string,
  now: number,
): Promise<z.output<typeof priceList>> {
  await followPublished();
  const prices = await selectPrices(client, workspaceId);
  const repricings = await selectRepricings(client, workspaceId, maxRepricings);
  const used = await selectUsedModels(client, workspaceId, dayOf(now));
  return {
    prices: prices.map(toPrice),
    disputed: findOpenDisputes(used, prices.map(toOwnPrice), now).map(
      ({ provider, model, last_day, unitType, applied, other }) => ({
        ...{ provider, model, unit_type: unitType, last_used_on: last_day },
        ...{ applied: toOffer(applied), other: toOffer(other) },
      }),
    ),
    repricings: repricings.map(toRepricing),
    closed_until: await selectClosedUntil(client, workspaceId),
  };
}

/** Lists the usage that has no price yet, for a workspace's members. @throws ServiceError not_found */
export function listUnpriced(claims: UserClaims, slug: string): Promise<z.output<typeof unpricedList>> {
  return asUserReading(claims, async (client) => {
    return loadUnpriced(client, await requireMembership(client, claims, slug));
  });
}

/** Like `listUnpriced`, in the caller's transaction. Lists open months only. */
export async function loadUnpriced(
  client: ClientBase,
  { id, time_zone: timeZone }: Pick<Membership, "id" | "time_zone">,
): Promise<z.output<typeof unpricedList>> {
  const from = (await selectClosedUntil(client, id)) ?? "-infinity";
  const kinds = await selectUnpriced(client, id, { from, until: "infinity", timeZone });
  return {
    unpriced: kinds.map(({ line_count, quantity, first_occurred_at, last_occurred_at, ...kind }) => ({
      ...kind,
      line_count: Number(line_count),
      quantity: new ExactNumber(quantity),
      first_occurred_at: toInstant(first_occurred_at.getTime()),
      last_occurred_at: toInstant(last_occurred_at.getTime()),
    })),
  };
}

/**
 * Sets a price, which applies from the next message on, and requests corrections of past messages: those without a price since the
 * price's start, and with `reprice` also those in its range that had another price.
 * @throws ServiceError not_found; permission_denied for members who are not admins; validation_failed if `reprice` ends in closed months
 */
export function setPrice(
  claims: UserClaims,
  slug: string,
  request: SetPriceRequest,
): Promise<z.output<typeof setPriceResult>> {
  return asUser(claims, async (client) => {
    const { id: workspaceId, time_zone: timeZone } = await requireMembership(client, claims, slug, "admin");
    const { provider, model, unit_type: unitType, reprice, starts_at: startsAt } = request;
    const closedUntil = await selectClosedUntil(client, workspaceId);
    const openFrom = firstOpenInstant(timeZone, closedUntil);
    if (closedUntil !== null && reprice?.to && Date.parse(reprice.to) <= openFrom) {
      const text = `the range ends before ${closedUntil}, and the months before that day are closed; reopen them, or correct single costs`;
      throw validationFailed([{ path: "reprice.from", message: text }]);
    }
    // Before the price itself, as where a dispute is settled: in another order, two transactions could wait for each other.
    await lockPrices(client, workspaceId);
    const rate = toText(parseDecimal(request.rate));
    const correction = { workspaceId, provider };
    const price = await upsertPrice(client, { ...correction, model, unitType, rate, startsAt });
    // Closed months stay as they are.
    const fromOpen = (from: string) => (Date.parse(from) < openFrom ? toInstant(openFrom) : from);
    const repricings = [
      await insertRepricing(client, {
        ...correction,
        from: fromOpen(startsAt),
        to: null,
        includesPriced: false,
      }),
    ];
    if (reprice) {
      const range = { from: fromOpen(reprice.from), to: reprice.to ?? null };
      repricings.push(await insertRepricing(client, { ...correction, ...range, includesPriced: true }));
    }
    return { price: toPrice(price), repricings: repricings.map(toRepricing) };
  });
}

const toOffer = ({ rate, ...offer }: Offer) => ({ ...offer, rate: new ExactNumber(rate) });

function toPrice({ rate, starts_at, created_at, ...price }: PriceRow) {
  return {
    ...price,
    rate: new ExactNumber(rate),
    starts_at: toInstant(starts_at.getTime()),
    created_at: toInstant(created_at.getTime()),
  };
}

function toRepricing({ from_at, to_at, change_usd, created_at, finished_at, ...repricing }: RepricingRow) {
  return {
    ...repricing,
    from: toInstant(from_at.getTime()),
    to: to_at && toInstant(to_at.getTime()),
    examined_count: Number(repricing.examined_count),
    changed_count: Number(repricing.changed_count),
    change_usd: new ExactNumber(change_usd),
    created_at: toInstant(created_at.getTime()),
    finished_at: finished_at && toInstant(finished_at.getTime()),
  };
}
