import { workspaceParams } from "@/lib/contract/access/workspace";
import { recommendationList } from "@/lib/contract/spend/recommendations";
import { defineRoute, endpoint } from "@/lib/http/define-route";
import { listRecommendations, refreshRecommendations } from "@/lib/spend/recommendations/service";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  GET: endpoint({
    summary: "List a workspace's recommendations",
    description:
      "Changes that would have saved money in the last 30 days, computed each week by repricing what was recorded, and what was decided about earlier ones. Savings below one dollar, or below 1% of what the workspace spent, are not recommended. Those of seats are for owners and admins.",
    auth: "user",
    role: "viewer",
    params: workspaceParams,
    response: recommendationList,
    errors: ["not_found"],
    run: ({ principal, params }) => listRecommendations(principal.claims, params.slug),
  }),
  POST: endpoint({
    summary: "Compute the recommendations again",
    description:
      "Within a minute; the answer has those of the last computation. At most once in ten minutes.",
    auth: "user",
    role: "admin",
    params: workspaceParams,
    response: recommendationList,
    status: 202,
    errors: ["not_found", "permission_denied", "conflict"],
    run: ({ principal, params }) => refreshRecommendations(principal.claims, params.slug),
  }),
});
