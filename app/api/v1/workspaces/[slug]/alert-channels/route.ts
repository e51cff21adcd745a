import { createChannel, listChannels } from "@/lib/alerts/channels/service";
import { workspaceParams } from "@/lib/contract/access/workspace";
import { channelList, createChannelRequest, createdChannel } from "@/lib/contract/alerts/alert-channels";
import { defineRoute, endpoint } from "@/lib/http/define-route";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  GET: endpoint({
    summary: "List a workspace's alert channels",
    description:
      "Where alerts are sent, and whether deliveries arrive. No answer contains the secret part of an address.",
    auth: "user",
    role: "viewer",
    params: workspaceParams,
    response: channelList,
    errors: ["not_found"],
    run: ({ principal, params }) => listChannels(principal.claims, params.slug),
  }),
  POST: endpoint({
    summary: "Add an alert channel",
    description:
      "A webhook of your own (signed as Standard Webhooks say), Slack, Discord, Microsoft Teams, PagerDuty, or mail to members. For admins; 20 in a workspace at most.",
    auth: "user",
    role: "admin",
    params: workspaceParams,
    body: createChannelRequest,
    response: createdChannel,
    status: 201,
    errors: ["not_found", "permission_denied", "conflict"],
    run: ({ principal, params, body }) => createChannel(principal.claims, params.slug, body),
  }),
});
