import { cost, type RecordCost } from "./client-contract.ts";
import { client } from "./generated/hey-api/client.gen.ts";
import { getSummaryMonth, postMessages } from "./generated/hey-api/sdk.gen.ts";

export const recordCost: RecordCost = async ({ url, key }, idempotencyKey) => {
  client.setConfig({ baseUrl: url, auth: key });
  const recorded = await postMessages({
    body: { ...cost, idempotency_key: idempotencyKey },
    throwOnError: true,
  });
  const summary = await getSummaryMonth({ throwOnError: true });
  const { id, amount_usd, cost_status } = recorded.data;
  return { id, amount_usd, cost_status, total_usd: summary.data.total_usd };
};
