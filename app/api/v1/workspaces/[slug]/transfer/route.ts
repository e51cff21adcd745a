import { transferOwnership } from "@/lib/access/members/service";
import { transferRequest, transferResult } from "@/lib/contract/access/members";
import { workspaceParams } from "@/lib/contract/access/workspace";
import { defineRoute, endpoint } from "@/lib/http/define-route";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  POST: endpoint({
    summary: "Transfer the ownership",
    description: "Makes another member the owner and you an admin, in one step.",
    auth: "user",
    role: "owner",
    params: workspaceParams,
    body: transferRequest,
    response: transferResult,
    errors: ["not_found", "permission_denied"],
    run: ({ principal, params, body }) => transferOwnership(principal.claims, params.slug, body.user_id),
  }),
});
