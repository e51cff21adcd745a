import { listTargets } from "@/lib/bills/limits/list-targets";
import { providerAccountParams } from "@/lib/contract/bills/provider-accounts";
import { limitTargetList, limitTargetQuery } from "@/lib/contract/bills/provider-limits";
import { defineRoute, endpoint } from "@/lib/http/define-route";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  GET: endpoint({
    summary: "List what a provider can limit",
    description:
      "For admins. Asks the provider, with the account's key, what can be limited for a budget: projects, workspaces, keys, members. Those with the name of what the budget is of come first.",
    auth: "user",
    role: "admin",
    params: providerAccountParams,
    query: limitTargetQuery,
    response: limitTargetList,
    errors: ["not_found", "permission_denied"],
    run: ({ principal, params, query }) =>
      listTargets(principal.claims, params.slug, params.id, query.budget_id),
  }),
});
