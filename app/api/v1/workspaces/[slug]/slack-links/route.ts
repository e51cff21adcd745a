import { listLinks } from "@/lib/alerts/slack/links";
import { workspaceParams } from "@/lib/contract/access/workspace";
import { slackLinkList } from "@/lib/contract/alerts/slack-links";
import { defineRoute, endpoint } from "@/lib/http/define-route";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  GET: endpoint({
    summary: "List your Slack users",
    description: "The Slack users whose clicks decide about budget requests as you.",
    auth: "user",
    role: "viewer",
    params: workspaceParams,
    response: slackLinkList,
    errors: ["not_found"],
    run: ({ principal, params }) => listLinks(principal.claims, params.slug),
  }),
});
