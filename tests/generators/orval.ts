import { cost, type RecordCost } from "./client-contract.ts";
import { getSummaryMonth, postMessages } from "./generated/orval.ts";

export const recordCost: RecordCost = async ({ key }, idempotencyKey) => {
  const options = { headers: { Authorization: `Bearer ${key}` } };
  const recorded = await postMessages({ ...cost, idempotency_key: idempotencyKey }, undefined, options);
  if (recorded.status !== 201) throw new Error(recorded.data.error_description);
  const summary = await getSummaryMonth(options);
  if (summary.status !== 200) throw new Error(summary.data.error_description);
  const { id, amount_usd, cost_status } = recorded.data;
  return { id, amount_usd, cost_status, total_usd: summary.data.total_usd };
};
