import { deleteWorkspace, restoreWorkspace } from "@/lib/access/workspaces/deletion";
import { deletedWorkspace, membership } from "@/lib/contract/access/me";
import { workspaceParams } from "@/lib/contract/access/workspace";
import { deleteWorkspaceRequest } from "@/lib/contract/access/workspaces";
import { defineRoute, endpoint } from "@/lib/http/define-route";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  POST: endpoint({
    summary: "Delete a workspace",
    description:
      "For owners who signed in within the last hour. At once its keys, connections and links are refused, its charges, alerts and reports stop, and its members are notified by mail. Its slug stays taken. For thirty days an owner can undo this; then everything that belongs to the workspace is erased.",
    auth: "user",
    role: "owner",
    params: workspaceParams,
    body: deleteWorkspaceRequest,
    response: deletedWorkspace,
    errors: ["not_found", "permission_denied", "recent_sign_in_required", "conflict"],
    run: ({ principal, params, body }) => deleteWorkspace(principal.claims, params.slug, body),
  }),
  DELETE: endpoint({
    summary: "Undo the deletion of a workspace",
    description:
      "For owners, for thirty days after the deletion. The workspace is as it was, and its keys and connections work again. A workspace that is not deleted stays as it is.",
    auth: "user",
    role: "owner",
    ofDeleted: true,
    params: workspaceParams,
    response: membership,
    errors: ["not_found", "permission_denied"],
    run: ({ principal, params }) => restoreWorkspace(principal.claims, params.slug),
  }),
});
