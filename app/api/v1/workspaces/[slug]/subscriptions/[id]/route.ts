import { recurringSubscription, subscriptionParams } from "@/lib/contract/ledger/subscriptions";
import { defineRoute, endpoint } from "@/lib/http/define-route";
import { stopRecurring } from "@/lib/ledger/recurring/service";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  DELETE: endpoint({
    summary: "Stop a recurring subscription",
    description: "Booked charges stay; no further period is booked.",
    auth: "user",
    role: "member",
    params: subscriptionParams,
    response: recurringSubscription,
    errors: ["not_found", "permission_denied"],
    run: ({ principal, params }) => stopRecurring(principal.claims, params.slug, params.id),
  }),
});
