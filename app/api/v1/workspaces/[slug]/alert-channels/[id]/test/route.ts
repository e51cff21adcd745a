import { testChannel } from "@/lib/alerts/channels/service";
import { channelParams } from "@/lib/contract/alerts/alert-channels";
import { alertDelivery } from "@/lib/contract/alerts/alerts";
import { defineRoute, endpoint } from "@/lib/http/define-route";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  POST: endpoint({
    summary: "Test an alert channel",
    description:
      "For admins. Sends a test once, also where the channel is turned off, waits for the outcome (15 seconds at most) and answers it: `delivered`, or `dead` with the error.",
    auth: "user",
    role: "admin",
    params: channelParams,
    response: alertDelivery,
    errors: ["not_found", "permission_denied", "rate_limited"],
    run: ({ principal, params }) => testChannel(principal.claims, params.slug, params.id),
  }),
});
