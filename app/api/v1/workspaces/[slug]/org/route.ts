import { readOrganization } from "@/lib/access/workspaces/service";
import { workspaceParams } from "@/lib/contract/access/workspace";
import { organization } from "@/lib/contract/access/workspaces";
import { defineRoute, endpoint } from "@/lib/http/define-route";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  GET: endpoint({
    summary: "Read a workspace and its members",
    description:
      "The workspace, its members with their roles, and how many projects, keys, budgets and connections it has.",
    auth: "user",
    role: "viewer",
    params: workspaceParams,
    response: organization,
    errors: ["not_found"],
    run: ({ principal, params }) => readOrganization(principal.claims, params.slug),
  }),
});
