import { cost, type RecordCost } from "./client-contract.ts";
import { getSummaryMonth } from "./generated/kubb/clients/getSummaryMonth.ts";
import { postMessages } from "./generated/kubb/clients/postMessages.ts";

export const recordCost: RecordCost = async ({ key }, idempotencyKey) => {
  // Kubb's fetch client leaves the type of a body to whoever calls.
  const options = { headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" } };
  const recorded = await postMessages(
    { ...cost, idempotency_key: idempotencyKey },
    undefined,
    undefined,
    options,
  );
  const summary = await getSummaryMonth(options);
  const { id, amount_usd, cost_status } = recorded;
  return { id, amount_usd, cost_status, total_usd: summary.total_usd };
};
