import { listDeliveries } from "@/lib/alerts/log/service";
import { channelParams } from "@/lib/contract/alerts/alert-channels";
import { alertQuery, deliveryList } from "@/lib/contract/alerts/alerts";
import { defineRoute, endpoint } from "@/lib/http/define-route";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  GET: endpoint({
    summary: "List the deliveries of an alert channel",
    description: "Its deliveries and their outcomes, the newest first, for 30 days.",
    auth: "user",
    role: "viewer",
    params: channelParams,
    query: alertQuery,
    response: deliveryList,
    errors: ["not_found"],
    run: ({ principal, params, query }) => listDeliveries(principal.claims, params.slug, params.id, query),
  }),
});
