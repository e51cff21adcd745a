import { markSeen } from "@/lib/alerts/news/service";
import { workspaceParams } from "@/lib/contract/access/workspace";
import { alertNews, seenAlertsRequest } from "@/lib/contract/alerts/alert-news";
import { defineRoute, endpoint } from "@/lib/http/define-route";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  POST: endpoint({
    summary: "Mark alerts as seen",
    description:
      "The alert and all before it are no longer new to you; they stay new to others. What fired after it stays unread.",
    auth: "user",
    role: "viewer",
    params: workspaceParams,
    body: seenAlertsRequest,
    response: alertNews,
    errors: ["not_found"],
    run: ({ principal, params, body }) => markSeen(principal.claims, params.slug, body),
  }),
});
