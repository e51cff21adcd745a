import { linkSlackUser } from "@/lib/alerts/slack/links";
import { linkSlackUserRequest, slackLink } from "@/lib/contract/alerts/slack-links";
import { defineRoute, endpoint } from "@/lib/http/define-route";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  POST: endpoint({
    summary: "Link a Slack user",
    description:
      "Links the Slack user who got the token to you: from then on, their clicks on the buttons of the channel's messages decide about budget requests as you. For owners and admins of the workspace and owners of a budget. The token is valid once, for 15 minutes.",
    auth: "user",
    body: linkSlackUserRequest,
    response: slackLink,
    status: 201,
    errors: ["not_found", "permission_denied"],
    run: ({ principal, body }) => linkSlackUser(principal.claims, body.token),
  }),
});
