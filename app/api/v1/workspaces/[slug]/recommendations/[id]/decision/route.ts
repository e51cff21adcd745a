import {
  decideRecommendation as decision,
  recommendation,
  recommendationParams,
} from "@/lib/contract/spend/recommendations";
import { defineRoute, endpoint } from "@/lib/http/define-route";
import { decideRecommendation } from "@/lib/spend/recommendations/service";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  POST: endpoint({
    summary: "Decide a recommendation",
    description:
      "Accepts it, declines it with a reason, puts it off until a day, or takes a decision back. A decision changes nothing but the list: prices, keys and budgets stay as they are. One that is accepted or declined must be reopened before it is decided again.",
    auth: "user",
    role: "admin",
    params: recommendationParams,
    body: decision,
    response: recommendation,
    errors: ["not_found", "permission_denied", "conflict"],
    run: ({ principal, params, body }) =>
      decideRecommendation(principal.claims, params.slug, params.id, body),
  }),
});
