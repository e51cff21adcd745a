import { listAlertRules } from "@/lib/alerts/rules/service";
import { workspaceParams } from "@/lib/contract/access/workspace";
import { alertRuleList } from "@/lib/contract/alerts/alert-rules";
import { defineRoute, endpoint } from "@/lib/http/define-route";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  GET: endpoint({
    summary: "List a workspace's alert rules",
    description: "The rules: whether they are on, when they fire, their current states, and snoozes.",
    auth: "user",
    role: "viewer",
    params: workspaceParams,
    response: alertRuleList,
    errors: ["not_found"],
    run: ({ principal, params }) => listAlertRules(principal.claims, params.slug),
  }),
});
