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
      "Accepts it, declines it with a reason, puts it off until a day, or takes a decision back. To accept a `disputed_price` sets the other prices as your own, and 409 says if they are not the disputed ones any more; every other decision changes nothing but the list. A price that was settled this way is not reopened: set another one. One that is accepted or declined must be reopened before it is decided again.",
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
