import { monthSummary } from "@/lib/contract/spend/reads";
import { defineRoute, endpoint } from "@/lib/http/define-route";
import { readMonthSummary } from "@/lib/spend/summaries/service";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  GET: endpoint({
    summary: "The month so far",
    description:
      "Spend of the current month of the workspace (of UTC, where no time zone was set), in the environment and the projects of the calling key.",
    auth: "key",
    permission: "read_summaries",
    response: monthSummary,
    run: ({ principal }) => readMonthSummary(principal.claims),
  }),
});
