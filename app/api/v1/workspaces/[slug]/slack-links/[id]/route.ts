import { unlinkSlackUser } from "@/lib/alerts/slack/links";
import { slackLink, slackLinkParams } from "@/lib/contract/alerts/slack-links";
import { defineRoute, endpoint } from "@/lib/http/define-route";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  DELETE: endpoint({
    summary: "Unlink one of your Slack users",
    description: "Their clicks decide nothing from then on, until you link them again.",
    auth: "user",
    role: "viewer",
    params: slackLinkParams,
    response: slackLink,
    errors: ["not_found"],
    run: ({ principal, params }) => unlinkSlackUser(principal.claims, params.slug, params.id),
  }),
});
