import { heliconeDelivery, signedQuery } from "@/lib/contract/delivery";
import { answerMethods } from "@/lib/http/define-route";
import { helicone } from "@/lib/sources/gateways/helicone";
import { receiveDelivery } from "@/lib/sources/gateways/http";
import { readDelivery } from "@/lib/sources/gateways/read-delivery";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = answerMethods({
  POST: receiveDelivery({
    summary: "Receive a delivery of Helicone",
    description:
      "Takes Helicone's webhook. `helicone-signature` has the HMAC-SHA256 of the body in hex, with the secret that was set for the API key in `key_id`. The price list decides the cost.",
    auth: "signed",
    body: heliconeDelivery,
    query: signedQuery,
    read: (bytes, settings) => readDelivery(helicone, bytes, settings),
  }),
});
