import type { CostStatus } from "@/lib/contract/ledger/ingest-result";

/** From what says the least about a cost to what says the most: without a price an amount is not the cost yet. */
const order: readonly CostStatus[] = ["unpriced", "priced", "converted", "client", "included"];

/**
 * How several postings together came to their cost: one without a price leaves the whole without one.
 * @throws Error where there are none
 */
export function combineStatuses(statuses: readonly CostStatus[]): CostStatus {
  const found = order.find((status) => statuses.includes(status));
  if (!found) throw new Error("The message has no postings.");
  return found;
}
