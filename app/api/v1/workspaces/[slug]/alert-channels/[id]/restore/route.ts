import { restoreChannel } from "@/lib/alerts/channels/service";
import { alertChannel, channelParams } from "@/lib/contract/alerts/alert-channels";
import { defineRoute, endpoint } from "@/lib/http/define-route";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  POST: endpoint({
    summary: "Restore a channel",
    description:
      "For admins. Within ten minutes after it was deleted. The channel keeps its address, its secrets and what it had not sent yet.",
    auth: "user",
    role: "admin",
    params: channelParams,
    response: alertChannel,
    errors: ["not_found", "permission_denied", "conflict"],
    run: ({ principal, params }) => restoreChannel(principal.claims, params.slug, params.id),
  }),
});
