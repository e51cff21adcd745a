import { listAlertRules } from "@/lib/alerts/rules/service";
import { alertRuleList } from "@/lib/contract/alert-rules";
import { workspaceParams } from "@/lib/contract/workspace";
import { defineRoute, endpoint } from "@/lib/http/define-route";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  GET: endpoint({
    summary: "List a workspace's alert rules",
    description: "Which rules are on, from when on they tell, their present states, and what is snoozed.",
    auth: "user",
    role: "viewer",
    params: workspaceParams,
    response: alertRuleList,
    errors: ["not_found"],
    run: ({ principal, params }) => listAlertRules(principal.claims, params.slug),
  }),
});
