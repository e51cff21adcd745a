import { workspaceParams } from "@/lib/contract/access/workspace";
import { activityList, activityQuery } from "@/lib/contract/spend/activity";
import { defineRoute, endpoint } from "@/lib/http/define-route";
import { readActivity } from "@/lib/spend/activity/service";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  GET: endpoint({
    summary: "List activity",
    description:
      "Latest first, by when the cost occurred. The rows of a period sum to the total that metrics answers for the same filters.",
    auth: "user",
    role: "viewer",
    params: workspaceParams,
    query: activityQuery,
    response: activityList,
    errors: ["not_found"],
    run: ({ principal, params, query }) => readActivity(principal.claims, params.slug, query),
  }),
});
