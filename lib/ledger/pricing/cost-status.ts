import type { CostStatus } from "@/lib/contract/ledger/ingest-result";

/** In order of precedence for a whole: one unpriced posting makes the whole unpriced. */
const order: readonly CostStatus[] = ["unpriced", "priced", "converted", "client", "included"];

/**
 * The cost status of several postings together: unpriced if one of them is.
 * @throws Error if there are none
 */
export function combineStatuses(statuses: readonly CostStatus[]): CostStatus {
  const found = order.find((status) => statuses.includes(status));
  if (!found) throw new Error("The message has no postings.");
  return found;
}
