import { isDeepStrictEqual } from "node:util";
import { deadlines } from "@/lib/db/deadlines";
import { asService, isContention } from "@/lib/db/transaction";
import { combineStatuses, type Line, priceUsageLine } from "@/lib/ledger/ingest/compose";
import { parseDecimal, sum, toText } from "@/lib/ledger/pricing/decimal";
import type { PriceOverride } from "@/lib/ledger/pricing/price-message";
import { workspacePrices } from "@/lib/ledger/pricing/workspace-prices";
import {
  advanceRepricing,
  applyRepricing,
  type Change,
  lockNextRepricing,
  lockRepriceable,
  type Repricing,
  type StoredItem,
  type StoredUsage,
  selectPricesVersion,
} from "./queries";

/** Messages corrected in one transaction: few enough that nobody waits long for their locks. */
const messagesAWrite = 500;

/**
 * Goes on with every correction that is to be made, until none is left. Safe to run in every process, and to be killed:
 * each transaction corrects some messages with all their sums and notes how far it has come.
 * @returns how many messages now cost something else
 */
export async function runRepricings(): Promise<number> {
  let changed = 0;
  for (;;) {
    const step = await repriceSome().catch((error) => {
      // Two corrections of one workspace, or a correction and an ingest, wanted the same sums: once more.
      if (isContention(error)) return 0;
      throw error;
    });
    if (step === undefined) return changed;
    changed += step;
  }
}

/** One transaction of a correction. @returns how many messages it changed, or undefined where there is nothing to do */
async function repriceSome(): Promise<number | undefined> {
  return asService(async (client) => {
    const repricing = await lockNextRepricing(client);
    if (!repricing) return undefined;
    const version = await selectPricesVersion(client, repricing.workspace_id);
    const prices = await workspacePrices(client, repricing.workspace_id, version);
    const examined = await lockRepriceable(client, repricing, messagesAWrite);
    const changes = examined.flatMap((message) => correct(message, repricing, prices) ?? []);
    const change = await applyRepricing(client, repricing.workspace_id, changes);
    const isDone = examined.length < messagesAWrite;
    await advanceRepricing(client, repricing, { examined, changed: changes.length, change, isDone });
    return changes.length;
  }, deadlines.job);
}

/** What a stored message costs at the prices of now; undefined where that is what it costs already. */
function correct(
  message: StoredUsage,
  repricing: Repricing,
  prices: readonly PriceOverride[],
): Change | undefined {
  const occurredAt = message.occurred_at.toISOString();
  const reprice = <Stored extends Priced>(stored: Stored, line: Line): Stored => {
    const due =
      stored.cost_status === "unpriced" || (repricing.includes_priced && stored.cost_status === "priced");
    if (!due) return stored;
    const { price: _, ...rest } = stored;
    const priced = priceUsageLine(message.provider, line, occurredAt, prices);
    return {
      ...rest,
      amount_usd: toText(priced.amount),
      cost_status: priced.costStatus,
      ...(priced.price && { price: priced.price }),
    } as Stored;
  };
  const key = { id: message.id, occurred_at: occurredAt };
  if (message.items) {
    const items = message.items.map((item): StoredItem => reprice(item, item));
    if (isDeepStrictEqual(items, message.items)) return undefined;
    const amount = sum(items.map((item) => parseDecimal(item.amount_usd)));
    return { ...key, amount_usd: toText(amount), cost_status: combineStatuses(items), price: null, items };
  }
  const { unit_type, quantity, model, details } = message;
  if (unit_type === null || quantity === null) return undefined;
  const stored = { amount_usd: toText(parseDecimal(message.amount_usd)), cost_status: message.cost_status };
  const { price, ...cost } = reprice<Priced>(stored, {
    ...details,
    unit_type,
    quantity,
    model: model ?? undefined,
  });
  return isDeepStrictEqual(cost, stored) ? undefined : { ...key, ...cost, price: price ?? null, items: null };
}

type Priced = Pick<StoredItem, "amount_usd" | "cost_status" | "price">;
