import { workspaceParams } from "@/lib/contract/access/workspace";
import { subscriptionList } from "@/lib/contract/ledger/subscriptions";
import { defineRoute, endpoint } from "@/lib/http/define-route";
import { listSubscriptions } from "@/lib/ledger/recurring/service";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  GET: endpoint({
    summary: "List recurring subscriptions",
    description: "Subscriptions whose following periods are booked automatically, active ones first.",
    auth: "user",
    role: "viewer",
    params: workspaceParams,
    response: subscriptionList,
    errors: ["not_found"],
    run: ({ principal, params }) => listSubscriptions(principal.claims, params.slug),
  }),
});
