import { endByLink } from "@/lib/alerts/reports/service";
import { endedReport, endReportQuery } from "@/lib/contract/spend/weekly-report";
import { defineRoute, endpoint } from "@/lib/http/define-route";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  POST: endpoint({
    summary: "End a weekly report by its mail's link",
    description:
      "Mail programs call it for their one-click unsubscribe (RFC 8058). It needs no account; a link works for a year. The answer is the same whether the link was known or not.",
    auth: "none",
    query: endReportQuery,
    response: endedReport,
    run: ({ query }) => endByLink(query.token),
  }),
});
