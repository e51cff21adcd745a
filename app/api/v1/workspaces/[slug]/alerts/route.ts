import { listAlerts } from "@/lib/alerts/log/service";
import { workspaceParams } from "@/lib/contract/access/workspace";
import { alertList, alertQuery } from "@/lib/contract/alerts/alerts";
import { defineRoute, endpoint } from "@/lib/http/define-route";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  GET: endpoint({
    summary: "List a workspace's alerts",
    description:
      "Alerts of all rules, newest first: why each fired, in words and figures, who it was sent to, and whether it arrived. The end of an alert is an entry of its own, with the state `ok`. A rule fires once for a subject, a period and a state.",
    auth: "user",
    role: "viewer",
    params: workspaceParams,
    query: alertQuery,
    response: alertList,
    errors: ["not_found"],
    run: ({ principal, params, query }) => listAlerts(principal.claims, params.slug, query),
  }),
});
