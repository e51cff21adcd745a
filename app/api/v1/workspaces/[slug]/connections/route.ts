import { listConnections } from "@/lib/access/oauth/connections";
import { connectionList } from "@/lib/contract/access/connections";
import { workspaceParams } from "@/lib/contract/access/workspace";
import { defineRoute, endpoint } from "@/lib/http/define-route";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  GET: endpoint({
    summary: "List connected programs",
    description: "Each is an assistant that a member connected with OAuth. It records like an API key.",
    auth: "user",
    role: "viewer",
    params: workspaceParams,
    response: connectionList,
    errors: ["not_found"],
    run: ({ principal, params }) => listConnections(principal.claims, params.slug),
  }),
});
