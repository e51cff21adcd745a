import { listAlerts } from "@/lib/alerts/log/service";
import { alertList, alertQuery } from "@/lib/contract/alerts";
import { workspaceParams } from "@/lib/contract/workspace";
import { defineRoute, endpoint } from "@/lib/http/define-route";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  GET: endpoint({
    summary: "List a workspace's alerts",
    description:
      "What fired, the newest first: the figures at that time, whom it was sent to, and whether it arrived. Each threshold of a budget fires once in each of its periods.",
    auth: "user",
    role: "viewer",
    params: workspaceParams,
    query: alertQuery,
    response: alertList,
    errors: ["not_found"],
    run: ({ principal, params, query }) => listAlerts(principal.claims, params.slug, query),
  }),
});
