import { listConnections } from "@/lib/access/oauth/connections";
import { connectionList } from "@/lib/contract/connections";
import { workspaceParams } from "@/lib/contract/workspace";
import { defineRoute, endpoint } from "@/lib/http/define-route";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  GET: endpoint({
    summary: "List the programs that were let into the workspace",
    description:
      "Each is a grant that a member gave an assistant with OAuth. What it records counts as a key's.",
    auth: "user",
    role: "viewer",
    params: workspaceParams,
    response: connectionList,
    errors: ["not_found"],
    run: ({ principal, params }) => listConnections(principal.claims, params.slug),
  }),
});
