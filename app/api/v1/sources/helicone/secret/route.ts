import { signedWebhook, signingSecret } from "@/lib/contract/sources/delivery";
import { defineRoute, endpoint } from "@/lib/http/define-route";
import { removeHeliconeSecret, storeHeliconeSecret } from "@/lib/sources/gateways/helicone-secret";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  PUT: endpoint({
    summary: "Set the secret that Helicone signs with",
    description:
      "Stores the HMAC key of a Helicone webhook for the API key that sends this, replaces an earlier one, and returns the address to give to Helicone. Until it is removed or the API key is revoked, whoever has the secret can record with this API key's conditions.",
    auth: "key",
    permission: "log_usage",
    body: signingSecret,
    response: signedWebhook,
    errors: ["permission_denied"],
    run: ({ principal, body }) => storeHeliconeSecret(principal.key, body.secret),
  }),
  DELETE: endpoint({
    summary: "Remove the secret that Helicone signs with",
    description: "Deliveries of Helicone for the API key that sends this are refused from now on.",
    auth: "key",
    permission: "log_usage",
    response: signedWebhook,
    errors: ["permission_denied"],
    run: ({ principal }) => removeHeliconeSecret(principal.key),
  }),
});
