import { resendAlert } from "@/lib/alerts/log/service";
import { alertDelivery, deliveryParams } from "@/lib/contract/alerts/alerts";
import { defineRoute, endpoint } from "@/lib/http/define-route";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  POST: endpoint({
    summary: "Send an alert again",
    description: "For admins. Queues a delivery that was given up (`dead`) for another three days.",
    auth: "user",
    role: "admin",
    params: deliveryParams,
    response: alertDelivery,
    errors: ["not_found", "permission_denied", "conflict"],
    run: ({ principal, params }) => resendAlert(principal.claims, params.slug, params.id),
  }),
});
