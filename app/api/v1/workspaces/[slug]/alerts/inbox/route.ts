import { listEntries } from "@/lib/alerts/inbox/service";
import { workspaceParams } from "@/lib/contract/access/workspace";
import { inbox, inboxQuery } from "@/lib/contract/alerts/alert-inbox";
import { defineRoute, endpoint } from "@/lib/http/define-route";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  GET: endpoint({
    summary: "List the inbox of alerts",
    description:
      "An entry for each thing that alerts are about: all alerts of a rule, a subject and a period are one, such as a budget that passed 50, 80 and 100% in November. It says what happened in figures, its course, what to do about it, who has it, and whether it is over. An entry is resolved by a member, or by itself: when its period ends, when the budget is raised above its spend, when the condition no longer holds, or when the rule is turned off. It opens again when something new fires. `GET …/alerts` has each alert by itself.",
    auth: "user",
    role: "viewer",
    params: workspaceParams,
    query: inboxQuery,
    response: inbox,
    errors: ["not_found"],
    run: ({ principal, params, query }) => listEntries(principal.claims, params.slug, query),
  }),
});
