import { savedView, savedViewParams } from "@/lib/contract/spend/saved-views";
import { defineRoute, endpoint } from "@/lib/http/define-route";
import { restoreView } from "@/lib/spend/saved-views/service";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  POST: endpoint({
    summary: "Restore a saved view",
    description:
      "Within ten minutes after it was deleted. Members restore their own views; admins also shared ones.",
    auth: "user",
    role: "viewer",
    params: savedViewParams,
    response: savedView,
    errors: ["not_found", "conflict"],
    run: ({ principal, params }) => restoreView(principal.claims, params.slug, params.id),
  }),
});
