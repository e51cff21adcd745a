import { heliconeDelivery, signedQuery } from "@/lib/contract/sources/delivery";
import { answerMethods } from "@/lib/http/define-route";
import { receiveDelivery } from "@/lib/sources/gateways/http";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = answerMethods({
  POST: receiveDelivery({
    summary: "Receive a delivery of Helicone",
    description:
      "Takes Helicone's webhook. `helicone-signature` has the HMAC-SHA256 of the body in hex, with the secret that was set for the API key in `key_id`. The price list decides the cost.",
    auth: "signed",
    body: heliconeDelivery,
    query: signedQuery,
    form: "helicone",
  }),
});
