import { openRouterDelivery } from "@/lib/contract/sources/delivery";
import { answerMethods } from "@/lib/http/define-route";
import { receiveDelivery } from "@/lib/sources/gateways/http";

const webhook = {
  summary: "Receive a delivery of OpenRouter",
  description:
    "Takes what OpenRouter's Broadcast sends to a webhook: OTLP traces in JSON. OpenRouter's cost is recorded. An empty body is a test of the connection.",
  auth: "bearer",
  body: openRouterDelivery,
  form: "openrouter",
} as const;

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = answerMethods({
  POST: receiveDelivery(webhook),
  PUT: receiveDelivery({ ...webhook, summary: "Receive a delivery of OpenRouter by PUT" }),
});
