import { deleteChannel, editChannel, readChannel } from "@/lib/alerts/channels/service";
import { alertChannel, channelParams, editChannelRequest } from "@/lib/contract/alerts/alert-channels";
import { defineRoute, endpoint } from "@/lib/http/define-route";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  GET: endpoint({
    summary: "Read an alert channel",
    description:
      "What people may see of its target, and whether it is on. Nobody can read its address or its secret.",
    auth: "user",
    role: "viewer",
    params: channelParams,
    response: alertChannel,
    errors: ["not_found"],
    run: ({ principal, params }) => readChannel(principal.claims, params.slug, params.id),
  }),
  PATCH: endpoint({
    summary: "Change an alert channel",
    description:
      "For admins. Fields that are left out stay unchanged. `enabled` turns the channel off, and on again after it was turned off.",
    auth: "user",
    role: "admin",
    params: channelParams,
    body: editChannelRequest,
    response: alertChannel,
    errors: ["not_found", "permission_denied"],
    run: ({ principal, params, body }) => editChannel(principal.claims, params.slug, params.id, body),
  }),
  DELETE: endpoint({
    summary: "Delete an alert channel",
    description: "For admins. What it has not sent is cancelled. Answers the deleted channel.",
    auth: "user",
    role: "admin",
    params: channelParams,
    response: alertChannel,
    errors: ["not_found", "permission_denied"],
    run: ({ principal, params }) => deleteChannel(principal.claims, params.slug, params.id),
  }),
});
