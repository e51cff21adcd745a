import { createWorkspace } from "@/lib/access/workspaces/service";
import { membership } from "@/lib/contract/access/me";
import { createWorkspaceRequest } from "@/lib/contract/access/workspaces";
import { defineRoute, endpoint } from "@/lib/http/define-route";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  POST: endpoint({
    summary: "Make a workspace",
    description:
      "Creates a team workspace, which you own. Its slug cannot be changed. One person may own 20.",
    auth: "user",
    body: createWorkspaceRequest,
    response: membership,
    status: 201,
    errors: ["account_deleted", "slug_taken", "conflict", "rate_limited"],
    run: ({ principal, body }) => createWorkspace(principal.claims, body),
  }),
});
