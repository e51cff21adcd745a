import { liteLlmDelivery } from "@/lib/contract/sources/delivery";
import { answerMethods } from "@/lib/http/define-route";
import { receiveDelivery } from "@/lib/sources/gateways/http";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = answerMethods({
  POST: receiveDelivery({
    summary: "Receive a delivery of LiteLLM",
    description:
      "Takes what LiteLLM's `generic_api` callback sends, in each of its formats (`json_array`, `ndjson`, `single`). LiteLLM's cost is recorded, except where it could not price the call: then the price list decides.",
    auth: "bearer",
    body: liteLlmDelivery,
    form: "litellm",
  }),
});
