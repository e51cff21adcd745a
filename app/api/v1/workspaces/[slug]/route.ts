import { updateWorkspace } from "@/lib/access/workspaces/service";
import { membership } from "@/lib/contract/access/me";
import { workspaceParams } from "@/lib/contract/access/workspace";
import { updateWorkspaceRequest } from "@/lib/contract/access/workspaces";
import { defineRoute, endpoint } from "@/lib/http/define-route";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  PATCH: endpoint({
    summary: "Change a workspace",
    description:
      "Name, description, base currency and whether members need two-factor authentication, for admins. Fields that are left out stay unchanged.",
    auth: "user",
    role: "admin",
    params: workspaceParams,
    body: updateWorkspaceRequest,
    response: membership,
    errors: ["not_found", "permission_denied"],
    run: ({ principal, params, body }) => updateWorkspace(principal.claims, params.slug, body),
  }),
});
