import { workspaceParams } from "@/lib/contract/access/workspace";
import { eraseRequest, erasurePreview } from "@/lib/contract/spend/people";
import { defineRoute, endpoint } from "@/lib/http/define-route";
import { previewErasure } from "@/lib/ledger/erasure/service";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  POST: endpoint({
    summary: "Preview an erasure",
    description:
      "For admins. Says where a person's name would be replaced, and where it would stay. Nothing is changed.",
    auth: "user",
    role: "admin",
    params: workspaceParams,
    body: eraseRequest,
    response: erasurePreview,
    errors: ["not_found", "permission_denied"],
    run: ({ principal, params, body }) => previewErasure(principal.claims, params.slug, body),
  }),
});
