import { workspaceParams } from "@/lib/contract/access/workspace";
import { sessionList, sessionsQuery } from "@/lib/contract/spend/sessions";
import { defineRoute, endpoint } from "@/lib/http/define-route";
import { readSessions } from "@/lib/spend/activity/sessions";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  GET: endpoint({
    summary: "List sessions",
    description:
      "The sessions of the activity that matches, such as the runs of an agent, each with what its calls cost. Sums at most 100,000 messages.",
    auth: "user",
    role: "viewer",
    params: workspaceParams,
    query: sessionsQuery,
    response: sessionList,
    errors: ["not_found"],
    run: ({ principal, params, query }) => readSessions(principal.claims, params.slug, query),
  }),
});
