import createClient from "openapi-fetch";
import { cost, type RecordCost } from "./client-contract.ts";
import type { paths } from "./generated/openapi-typescript.ts";

export const recordCost: RecordCost = async ({ url, key }, idempotencyKey) => {
  const client = createClient<paths>({ baseUrl: url, headers: { Authorization: `Bearer ${key}` } });
  const recorded = await client.POST("/api/v1/messages", {
    body: { ...cost, idempotency_key: idempotencyKey },
  });
  if (recorded.error) throw new Error(recorded.error.error_description);
  const summary = await client.GET("/api/v1/summary/month");
  if (summary.error) throw new Error(summary.error.error_description);
  const { id, amount_usd, cost_status } = recorded.data;
  return { id, amount_usd, cost_status, total_usd: summary.data.total_usd };
};
