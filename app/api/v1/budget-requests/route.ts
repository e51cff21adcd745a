import { askForBudget, keyBudgetRequest, keyBudgetRequestList } from "@/lib/contract/spend/budget-requests";
import { defineRoute, endpoint } from "@/lib/http/define-route";
import { askAsKey } from "@/lib/spend/budget-requests/ask";
import { listKeyRequests } from "@/lib/spend/budget-requests/list";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  GET: endpoint({
    summary: "List the key's budget requests",
    description: "What the calling key has asked for, and how it was decided.",
    auth: "key",
    response: keyBudgetRequestList,
    run: ({ principal }) => listKeyRequests(principal),
  }),
  POST: endpoint({
    summary: "Ask for more of a budget or of the key's own limit",
    description:
      "For any key: of its own monthly limit, or of a budget that can count what it records. Those who may decide are notified, and decide in the dashboard. A key has one pending request a limit, and asks at most 20 times in 24 hours.",
    auth: "key",
    body: askForBudget,
    response: keyBudgetRequest,
    status: 201,
    errors: ["not_found", "conflict"],
    run: ({ principal, body }) => askAsKey(principal, body),
  }),
});
