import { editAlertRule } from "@/lib/alerts/rules/service";
import { alertRuleParams, alertRuleSetting, editAlertRuleRequest } from "@/lib/contract/alerts/alert-rules";
import { defineRoute, endpoint } from "@/lib/http/define-route";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  PATCH: endpoint({
    summary: "Change an alert rule",
    description:
      "Turns a rule on or off, or sets when it fires. For admins. Thresholds are set on each budget; with `budget_threshold` off they are recorded, and nobody is notified.",
    auth: "user",
    role: "admin",
    params: alertRuleParams,
    body: editAlertRuleRequest,
    response: alertRuleSetting,
    errors: ["not_found", "permission_denied"],
    run: ({ principal, params, body }) => editAlertRule(principal.claims, params.slug, params.rule, body),
  }),
});
