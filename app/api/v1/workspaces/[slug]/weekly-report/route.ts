import { changeSubscription, readSubscription } from "@/lib/alerts/reports/service";
import { workspaceParams } from "@/lib/contract/access/workspace";
import { weeklyReport, weeklyReportRequest } from "@/lib/contract/spend/weekly-report";
import { defineRoute, endpoint } from "@/lib/http/define-route";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  GET: endpoint({
    summary: "Read whether you receive the weekly report",
    description: "A setting of each member, visible to that member only.",
    auth: "user",
    role: "viewer",
    params: workspaceParams,
    response: weeklyReport,
    errors: ["not_found"],
    run: ({ principal, params }) => readSubscription(principal.claims, params.slug),
  }),
  PUT: endpoint({
    summary: "Receive the weekly report, or end it",
    description:
      "By mail, on Mondays at 08:00 in your time zone: the spend of the week that ended there, the change to the week before, what moved most, usage without a price, and budgets at risk.",
    auth: "user",
    role: "viewer",
    params: workspaceParams,
    body: weeklyReportRequest,
    response: weeklyReport,
    errors: ["not_found"],
    run: ({ principal, params, body }) => changeSubscription(principal.claims, params.slug, body),
  }),
});
