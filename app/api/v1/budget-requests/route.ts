import { askForBudget, keyBudgetRequest, keyBudgetRequestList } from "@/lib/contract/spend/budget-requests";
import { defineRoute, endpoint } from "@/lib/http/define-route";
import { askAsKey, listKeyRequests } from "@/lib/spend/budget-requests/service";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  GET: endpoint({
    summary: "List the key's budget requests",
    description: "What the calling key has asked for, and how it was decided.",
    auth: "key",
    response: keyBudgetRequestList,
    run: ({ principal }) => listKeyRequests(principal),
  }),
  POST: endpoint({
    summary: "Ask for more of a budget",
    description:
      "For any key, of a budget that can count what it records. The budget's owner and those whom it warns are notified, and decide in the dashboard. A key has one pending request a budget, and asks at most 20 times in 24 hours.",
    auth: "key",
    body: askForBudget,
    response: keyBudgetRequest,
    status: 201,
    errors: ["not_found", "conflict"],
    run: ({ principal, body }) => askAsKey(principal, body),
  }),
});
