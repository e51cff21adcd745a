import { workspaceParams } from "@/lib/contract/access/workspace";
import { savedView, savedViewList, saveViewRequest } from "@/lib/contract/spend/saved-views";
import { defineRoute, endpoint } from "@/lib/http/define-route";
import { listViews, saveView } from "@/lib/spend/saved-views/service";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  GET: endpoint({
    summary: "List saved views",
    description: "The views of Explore that the user saved, and those that are shared.",
    auth: "user",
    role: "viewer",
    params: workspaceParams,
    response: savedViewList,
    errors: ["not_found"],
    run: ({ principal, params }) => listViews(principal.claims, params.slug),
  }),
  POST: endpoint({
    summary: "Save a view",
    description: "Saves the query of an address of Explore. Viewers cannot share their views.",
    auth: "user",
    role: "viewer",
    params: workspaceParams,
    body: saveViewRequest,
    response: savedView,
    status: 201,
    errors: ["not_found", "permission_denied", "conflict"],
    run: ({ principal, params, body }) => saveView(principal.claims, params.slug, body),
  }),
});
