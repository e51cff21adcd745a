import { isDeepStrictEqual } from "node:util";
import { deadlines } from "@/lib/db/deadlines";
import { runSteps } from "@/lib/db/job-steps";
import { asService } from "@/lib/db/transaction";
import { parseDecimal, toText } from "@/lib/decimal";
import { costFields, priceUsageLine } from "@/lib/ledger/ingest/compose";
import type { PriceOverride } from "@/lib/ledger/pricing/price-message";
import { presentPrices } from "@/lib/ledger/pricing/workspace-prices";
import { followPublished } from "@/lib/ledger/published/follow";
import {
  advanceRepricing,
  applyRepricing,
  type Change,
  lockNextRepricing,
  lockRepriceable,
  type StoredUsage,
} from "./repricing-queries";

/** Postings corrected in one transaction: few enough that other requests wait only briefly for the locks. */
const postingsAWrite = 500;

/**
 * Carries out all requested corrections. Several processes may run it at once, and it may be killed at any time: each transaction
 * corrects whole messages with all their sums, and stores its progress.
 * @returns how many messages changed
 */
export async function runRepricings(): Promise<number> {
  await followPublished();
  return runSteps(repriceSome);
}

/** Runs one transaction of a correction. @returns how many messages it changed, or null if there is nothing to do */
async function repriceSome(): Promise<number | null> {
  return asService(async (client) => {
    const repricing = await lockNextRepricing(client);
    if (!repricing) return null;
    const prices = await presentPrices(client, repricing.workspace_id);
    const examined = await lockRepriceable(client, repricing, postingsAWrite);
    const changes = examined.flatMap((posting) => correct(posting, prices) ?? []);
    const change = await applyRepricing(client, repricing.workspace_id, changes);
    const changed = countMessages(changes);
    await advanceRepricing(client, repricing, {
      examined: countMessages(examined),
      changed,
      change,
      last: examined.at(-1),
      isDone: examined.length < postingsAWrite,
    });
    return changed;
  }, deadlines.job);
}

const countMessages = (postings: { id: string }[]) => new Set(postings.map(({ id }) => id)).size;

/** The cost of a posting at the present prices; undefined if it does not change. */
function correct(posting: StoredUsage, prices: readonly PriceOverride[]): Change | undefined {
  const { id, part, provider, model, unit_type, quantity, details } = posting;
  const occurred_at = posting.occurred_at.toISOString();
  const line = { ...details, unit_type, quantity, model: model ?? undefined };
  const priced = priceUsageLine(provider, line, posting.dated_at, prices);
  const { list_price_usd = null, ...cost } = costFields(priced, posting.cost_status === "included");
  const change = { ...cost, list_price_usd };
  const plain = (amount: string) => toText(parseDecimal(amount));
  const stored = {
    cost_status: posting.cost_status,
    amount_usd: plain(posting.amount_usd),
    list_price_usd: posting.list_price_usd === null ? null : plain(posting.list_price_usd),
  };
  if (isDeepStrictEqual(change, stored)) return undefined;
  return { id, part, occurred_at, ...change, price: priced.price };
}
