import { recommendationList } from "@/lib/contract/spend/recommendations";
import { defineRoute, endpoint } from "@/lib/http/define-route";
import { listRecommendationsOfKey } from "@/lib/spend/recommendations/service";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  GET: endpoint({
    summary: "List the recommendations",
    description:
      "Changes that would have saved money in the last 30 days, computed each week by repricing what was recorded. They are of all projects and people, so a key of some projects or users, or of the test environment, sees none. Nor does a key see those of seats.",
    auth: "key",
    permission: "read_summaries",
    response: recommendationList,
    run: ({ principal }) => listRecommendationsOfKey(principal.claims),
  }),
});
