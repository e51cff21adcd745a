import { savedView, savedViewParams } from "@/lib/contract/spend/saved-views";
import { defineRoute, endpoint } from "@/lib/http/define-route";
import { removeView } from "@/lib/spend/saved-views/service";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  DELETE: endpoint({
    summary: "Delete a saved view",
    description: "Deletes a view that you saved or, for admins, a shared one. Returns the deleted view.",
    auth: "user",
    role: "viewer",
    params: savedViewParams,
    response: savedView,
    errors: ["not_found", "permission_denied"],
    run: ({ principal, params }) => removeView(principal.claims, params.slug, params.id),
  }),
});
