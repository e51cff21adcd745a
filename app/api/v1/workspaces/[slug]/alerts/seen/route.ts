import { markSeen } from "@/lib/alerts/news/service";
import { workspaceParams } from "@/lib/contract/access/workspace";
import { alertNews, seenAlertsRequest } from "@/lib/contract/alerts/alert-news";
import { defineRoute, endpoint } from "@/lib/http/define-route";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  POST: endpoint({
    summary: "Mark alerts as seen",
    description:
      "Marks this alert and all earlier ones as read by you; they stay new to others. Later alerts stay unread.",
    auth: "user",
    role: "viewer",
    params: workspaceParams,
    body: seenAlertsRequest,
    response: alertNews,
    errors: ["not_found"],
    run: ({ principal, params, body }) => markSeen(principal.claims, params.slug, body),
  }),
});
