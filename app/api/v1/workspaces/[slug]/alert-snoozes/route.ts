import { snoozeAlerts } from "@/lib/alerts/rules/service";
import { workspaceParams } from "@/lib/contract/access/workspace";
import { alertSnooze, snoozeRequest } from "@/lib/contract/alerts/alert-rules";
import { defineRoute, endpoint } from "@/lib/http/define-route";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  POST: endpoint({
    summary: "Snooze alerts",
    description:
      "Snoozes a rule, or one of its subjects, until a given time. Alerts that fire meanwhile are recorded, and no notification of them is sent later. For admins. A later snooze of the same rule or subject replaces it.",
    auth: "user",
    role: "admin",
    params: workspaceParams,
    body: snoozeRequest,
    response: alertSnooze,
    status: 201,
    errors: ["not_found", "permission_denied"],
    run: ({ principal, params, body }) => snoozeAlerts(principal.claims, params.slug, body),
  }),
});
