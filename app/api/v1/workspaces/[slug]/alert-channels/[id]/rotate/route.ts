import { rotateChannelSecret } from "@/lib/alerts/channels/service";
import { channelParams, rotatedSecret } from "@/lib/contract/alerts/alert-channels";
import { defineRoute, endpoint } from "@/lib/http/define-route";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  POST: endpoint({
    summary: "Rotate the signing secret of a webhook",
    description:
      "For admins. The new secret is shown only in this answer. For a day, webhooks carry a signature of each, so that the receiver can change over.",
    auth: "user",
    role: "admin",
    params: channelParams,
    response: rotatedSecret,
    errors: ["not_found", "permission_denied", "conflict"],
    run: ({ principal, params }) => rotateChannelSecret(principal.claims, params.slug, params.id),
  }),
});
