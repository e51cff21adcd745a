import { sendReportNow } from "@/lib/alerts/reports/service";
import { workspaceParams } from "@/lib/contract/access/workspace";
import { sendReportRequest, sentReport } from "@/lib/contract/spend/weekly-report";
import { defineRoute, endpoint } from "@/lib/http/define-route";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  POST: endpoint({
    summary: "Mail yourself the weekly report now",
    description:
      "Sends the report of the last complete week to your own address, waits for the mail server (15 seconds at most) and returns the outcome. The report on Monday is still sent.",
    auth: "user",
    role: "viewer",
    params: workspaceParams,
    body: sendReportRequest,
    response: sentReport,
    errors: ["not_found", "rate_limited"],
    run: ({ principal, params, body }) => sendReportNow(principal.claims, params.slug, body.time_zone),
  }),
});
